"""Results become tables, JSON, CSV and Markdown."""
