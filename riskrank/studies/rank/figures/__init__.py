"""What is drawn, from the document alone."""
