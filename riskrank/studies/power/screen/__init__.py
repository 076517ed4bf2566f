"""Terminal output of ``power``, built from its documents."""
