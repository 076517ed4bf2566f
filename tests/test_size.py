"""The package does not grow: its number of code lines may only decrease."""

import ast
from pathlib import Path

import pytest

import riskrank

# `make lint` runs it.
pytestmark = pytest.mark.slow

# These figures may only fall. A commit that removes code lowers them to the values in the message of this
# test; one that raises them says why.
CODE_LINES = 47_093
FILES = 320

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(source: str) -> int:
    """Return the number of lines that hold more than blanks, comments and docstrings."""
    texts = source.split("\n")
    lines = {number for number, text in enumerate(texts, 1) if text.strip() and text.strip()[0] != "#"}
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and '"""' in texts[node.lineno - 1]:
            lines.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            documented.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines - documented)


def test_blanks_comments_and_docstrings_are_not_code():
    assert code_lines('"""Say\nit."""\n\n# Why.\nx = """a\n\nb"""  # end\n\n\ndef f():\n    """Do."""\n') == 4


def test_the_package_grows_no_larger():
    sources = [path.read_text(encoding="utf-8") for path in Path(riskrank.__file__).parent.rglob("*.py")]
    size = sum(map(code_lines, sources)), len(sources)
    assert size == (min(size[0], CODE_LINES), min(size[1], FILES))
