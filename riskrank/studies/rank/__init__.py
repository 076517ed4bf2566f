"""A ranking and how sure it is: the room of ``rank``."""
