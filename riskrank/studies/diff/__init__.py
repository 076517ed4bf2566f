"""Which cases changed between two models: the study behind ``diff``."""
