"""Which cases changed between two models: the room of ``diff``."""
