"""Terminal output of ``report``, built from the document alone."""
