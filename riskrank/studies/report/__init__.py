"""One page for a decision: the room of ``report``."""
