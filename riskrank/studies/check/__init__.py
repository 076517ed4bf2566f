"""The study behind ``check``: the contents and problems of a score table."""
