"""Report: the study of ``report``."""
