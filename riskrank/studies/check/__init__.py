"""The study behind ``check``: contents and problems of a score table."""
