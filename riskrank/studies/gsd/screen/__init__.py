"""Terminal screens of ``gsd``, built from its document."""
