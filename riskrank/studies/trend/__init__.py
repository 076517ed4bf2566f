"""What changed over many runs of one evaluation: the room of ``trend``."""
