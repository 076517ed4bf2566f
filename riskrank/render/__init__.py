"""What is shown of a result: tables, JSON, CSV, Markdown, LaTeX, pictures and pages."""
