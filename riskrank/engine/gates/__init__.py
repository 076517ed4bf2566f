"""Claims about the difference of two models: resampled, decided as one family, with three answers."""
