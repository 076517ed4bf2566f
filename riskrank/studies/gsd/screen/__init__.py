"""Terminal output of ``gsd``, built from its document."""
