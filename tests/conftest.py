"""Shared test set-up: Hypothesis without deadlines, so that a busy machine never fails a test."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "riskrank", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("riskrank")
