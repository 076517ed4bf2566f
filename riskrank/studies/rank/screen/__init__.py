"""Terminal output of ``rank``, built from its document."""
