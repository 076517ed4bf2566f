"""Terminal screens of ``copa``, built from its documents."""
