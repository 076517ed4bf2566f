"""What is shown, from the document alone."""
