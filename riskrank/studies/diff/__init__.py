"""The study behind ``diff``: cases that changed between two models."""
