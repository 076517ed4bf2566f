"""A document as one HTML file that needs nothing else: its words, tables and figures, mailed as it is."""

from importlib.util import find_spec

from riskrank.errors import UsageError

MADE_WITH = ("jinja2", "matplotlib")


def can_make_pages() -> bool:
    """Whether what a page is made with is installed."""
    return all(find_spec(name) is not None for name in MADE_WITH)


def require_pages() -> None:
    """Refuse to make a page where nothing can make one.

    Raises
    ------
    UsageError
    """
    missing = [name for name in MADE_WITH if find_spec(name) is None]
    if missing:
        raise UsageError(
            "pages are made with Jinja2 and Matplotlib, which are not all installed",
            found=f"no module {missing[0]}",
            hint="pip install 'riskrank[report]'",
        )
