"""Claims that a run must meet, decided as one family: the room of ``gate``."""
