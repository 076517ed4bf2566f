"""Claims about differences between two models, tested by resampling as one family."""
