"""Terminal output of ``report``, built from its document."""
