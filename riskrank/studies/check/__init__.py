"""What a score table holds and what is wrong with it: the room of ``check``."""
