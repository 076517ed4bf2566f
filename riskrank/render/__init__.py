"""Rendering of documents as tables, JSON, CSV, Markdown, LaTeX, pictures and HTML pages."""
