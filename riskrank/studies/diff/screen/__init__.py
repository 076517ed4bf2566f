"""Terminal output of ``diff``, built from its document."""
