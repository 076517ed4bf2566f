"""Rendering of documents: tables, JSON, CSV, Markdown, LaTeX, pictures and HTML pages."""
