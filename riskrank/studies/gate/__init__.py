"""The study behind ``gate``: claims that a run must meet, tested as one family."""
