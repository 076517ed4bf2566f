"""The study behind ``rank``: rankings and their certainty."""
