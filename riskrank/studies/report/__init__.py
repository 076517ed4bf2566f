"""The study behind ``report``: all analyses of a table in one document."""
