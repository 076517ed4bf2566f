"""The sampling design, its resamples, random streams, processes, and corrections for many tests."""
