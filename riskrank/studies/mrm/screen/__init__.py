"""Terminal output of ``mrm``, built from its document."""
