"""Self-contained HTML pages with the text, tables and figures of a document."""
