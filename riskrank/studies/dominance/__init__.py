"""Which model is ahead of which, pair by pair: the room of ``dominance``."""
