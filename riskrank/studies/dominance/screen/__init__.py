"""Terminal output of ``dominance``, built from its document."""
