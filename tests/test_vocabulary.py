"""Keep identifiers and docstrings in the vocabulary of the field.

A contributor should find every name in a statistics textbook or in the documentation of NumPy, pandas or
pytest. The words below read as riddles in a name; each entry says what to write instead.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

# `make lint` runs it.
pytestmark = pytest.mark.slow

TOP = Path(__file__).parent.parent
INSTEAD = {
    "the noun that the name stands for": "one own each others rest else whole wholes found given made taken "
    "held kept",
    "message, text, reported, requested": "told tells tell said says say asked asks wanted known met shown",
    "the condition or the quantity": "what which whose who where why so_many lies stands lacks ends worth",
    "repeat, resampled, recomputed": "anew again drawn",
    "excluded, unpaired, alongside, equal": "gone apart beside alike",
    "suggestions, uncertainty, severity": "ways doubt gravity",
    "package, module, command line, Python API": "room house door",
}
RIDDLES = {word for words in INSTEAD.values() for word in words.split()}
QUESTION = re.compile(r"(What|Which|Who|Whose|Whom|Where|When|Why|How|Whether|That)\b")


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines: functions, classes, parameters, variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            yield from filter(None, [ast.get_docstring(node)])


@pytest.mark.parametrize(("folder", "names", "openings"), [("riskrank", 0.005, 0.02), ("tests", 0.01, 0.03)])
def test_names_and_docstrings_use_common_vocabulary(folder, names, openings):
    defined, riddles, documented, questions = 0, Counter(), 0, []
    for path in sorted((TOP / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())
        for name in [*identifiers(tree), path.stem]:
            defined += 1
            riddles.update([f"{path.relative_to(TOP)}: {name}"] * bool(RIDDLES & {*name.lower().split("_")}))
        for text in docstrings(tree):
            documented += 1
            questions += [f"{path.relative_to(TOP)}: {text[:60]}"] * bool(QUESTION.match(text))
    assert riddles.total() <= names * defined, "\n".join(riddles)
    assert len(questions) <= openings * documented, "\n".join(questions)
