"""What harnesses and judges write, as a score table: the room of ``convert``."""
