"""Self-contained HTML pages with the text, tables and figures of a document."""

from importlib.util import find_spec

from riskrank.errors import UsageError

REQUIRED_MODULES = ("jinja2", "matplotlib")


def can_make_pages() -> bool:
    """Return True if pages can be rendered: Jinja2 and Matplotlib are installed."""
    return all(find_spec(name) is not None for name in REQUIRED_MODULES)


def require_pages() -> None:
    """Check that pages can be rendered.

    Raises
    ------
    UsageError
        If Jinja2 or Matplotlib is not installed.
    """
    missing = [name for name in REQUIRED_MODULES if find_spec(name) is None]
    if missing:
        raise UsageError(
            "pages need Jinja2 and Matplotlib; at least one is not installed",
            found=f"no module {missing[0]}",
            hint="pip install 'riskrank[report]'",
        )
