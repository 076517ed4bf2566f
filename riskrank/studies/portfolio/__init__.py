"""Portfolio scores: the study of ``portfolio``."""
