"""Terminal output of ``mrm``, built from the document alone."""
