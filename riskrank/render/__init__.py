"""Rendering of documents as tables, JSON, CSV, Markdown, LaTeX, pictures and HTML pages."""

import tomllib
from pathlib import Path
from typing import Any

# Words, symbols and formats of everything that riskrank writes.
WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
