"""Terminal output of ``trend``, built from its document."""
