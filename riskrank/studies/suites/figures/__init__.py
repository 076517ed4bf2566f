"""Pictures of a suite, drawn from the document alone."""
