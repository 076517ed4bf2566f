"""Mean minus risk: the room of ``mrm``."""
