"""Results by group of samples, used by several studies."""
