"""How often a test succeeds at a sample size, and the size it needs."""
