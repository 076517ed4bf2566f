"""Sampling designs, bootstrap resamples, random streams, worker processes and small-sample corrections."""
