"""Store the complete output of tests, so that each change is visible.

If a folder's ``conftest.py`` has the fixture ``screens``, outputs are stored in ``screens/<subfolder>.txt``,
under ``# test_file.py::test_name[case]``. These are the screens and documents of the first two results of a
test, for its first two cases, and the errors of studies. ``pytest tests/studies tests/cli tests/render
tests/engine -m "not slow" -n 0 --write-made`` rewrites them; review the diff. A result that several tests
share should be a module fixture, which is not stored: a cache would assign it to the first test.
"""

import difflib
import json
import re
import sys
import textwrap
from functools import cache, wraps

import numpy as np
import pytest

from riskrank.errors import InputError, RiskrankError, UsageError
from riskrank.render.formats.terminal import with_charts
from riskrank.render.page.page import chapters
from riskrank.render.sections import sections_with_parameters
from riskrank.render.view import Table, cell_text
from riskrank.results import Result, to_result
from riskrank.studies.document import Document
from riskrank.studies.rank.document import MEANING
from riskrank.version import __version__
from tests.examples import ROOT, difference

MOST = 2  # of the results of a test, and of its cases
ERRORS = 6  # of a test
REPORTING = re.compile(r"riskrank\.(studies|render)\b")
LINES, WIDTH = 100, 98
ROWS = 4
RECORDED = []
# Tests whose output is not the result of a study, or is shared by several tests.
UNSTORED = re.compile(
    "bad_input|ci_logs|help|hostile_.*|kernel|limits|output_files|pipes_and_devices|refusals|short_writes|"
    "skill|surroundings|unproposed_options|"
    # Engine tests with several valid results: equal costs, or eigenvectors of either sign.
    "an_earlier_cost_stays_as_low_as_possible|unequal_runs_against_the_.*"
)


@pytest.fixture(autouse=True)
def screens(request, monkeypatch, update_stored):
    """Record what a test computes, and compare it after the test."""
    if hasattr(request.module, "RNG"):  # random draws must not depend on earlier tests
        monkeypatch.setattr(request.module, "RNG", np.random.default_rng(7))
    if not steady(request.node, most=sys.maxsize):
        yield
        return
    RECORDED.clear()
    for kind in (Result, RiskrankError, *kinds(Document)):
        if "__init__" in vars(kind):
            monkeypatch.setattr(kind, "__init__", recording(kind.__init__))
    yield
    monkeypatch.undo()
    hold(request.node, [*recorded_texts(request.node)], update_stored)


def kinds(of):
    """Return a document class and its subclasses that have been imported."""
    return {of}.union(*map(kinds, of.__subclasses__()))


def recording(init):
    """Wrap a constructor to record its object; only errors of studies and of rendering are recorded."""

    @wraps(init)
    def begun(self, *args, **named):
        init(self, *args, **named)
        if not isinstance(self, RiskrankError) or REPORTING.match(sys._getframe(1).f_globals["__name__"]):
            RECORDED.append(self)

    return begun


def recorded_texts(node):
    """Yield texts of results, or of documents if a test calls a study directly, and of errors."""
    if case_of(node) < MOST:
        ours = [item for item in RECORDED if type(item).__module__.startswith("riskrank.")]
        documents = [item for item in ours if isinstance(item, Document)][-MOST:]
        results = [item for item in RECORDED if not isinstance(item, RiskrankError | Document)][:MOST]
        for item in results or map(to_result, documents):
            yield from rendered_texts(item)
    yield from [*dict.fromkeys(str(item) for item in RECORDED if isinstance(item, UsageError | InputError))][
        :ERRORS
    ]


def case_of(node):
    return max((getattr(node, "callspec", None) and node.callspec.indices.values()) or [0])


def steady(node, most=MOST):
    """Return whether the output of a test is deterministic, quick, and stored by no other test."""
    if hasattr(node, "callspec") and {"stored"} & {*node.callspec.params}:
        return False
    if case_of(node) >= most:
        return False
    if any(UNSTORED.fullmatch(base_name(name)) for name in (node.path.name, node.name)):
        return False
    return not (node.get_closest_marker("slow") or hasattr(node.function, "hypothesis"))


def base_name(name):
    return name.removeprefix("test_").removesuffix(".py")


def rendered_texts(result):
    """Return the texts of a result, or of a successful call of the command line."""
    if isinstance(result, Result):
        document = result.document
        head = [document.question, MEANING.get(document.certainty, "")]
        head += [f"{name}: {text}" for name, text in result.pictures.items()]
        parts = [part for chapter in chapters(document) for part in chapter.parts]
        head += [f"{part.title}: {part.finding}" for part in parts if part.anchor != "glossary"]
        document = of_document(json.loads(result.to_json()))
        return ["\n".join(page(result.document)), "\n".join([*head, *document])]
    if not result.stdout or "\x1b" in result.stdout or result.stdout.startswith("<"):
        return []
    document = result.stdout.startswith("{\n") and "meta" in (content := json.loads(result.stdout))
    messages = re.sub(r"takes about \d+ (\w+): .*", r"takes some \1", result.stderr)  # depends on the clock
    return [
        "\n".join(
            [f"exit {result.status}", *(of_document(content) if document else [result.stdout]), messages]
        )
    ]


def page(document):
    """Yield the words and cells of a complete screen; tests/render covers their layout."""
    for section in sections_with_parameters(document, flags=False):
        if isinstance(section, Table):
            table = with_charts(section, WIDTH)
            rows = [[column.head for column in table.columns], *table.rows]
            yield from (table.title, *("  ".join(map(cell_text, row)).replace("\n", " ") for row in rows))
        else:
            text = f"{section.label} {section.text}"
            yield from textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def of_document(document):
    """Return a document as a few lines: statements, methods, and first rows."""
    meta = {name: document["meta"].get(name) for name in ("verdict", "warnings", "method")}
    remaining = {name: value for name, value in document.items() if name not in ("meta", "results")}
    parts = [*({name: value} for name, value in (meta | remaining).items())]
    parts += [*document["meta"].get("findings", []), *document["results"][:ROWS]]
    return [json.dumps(shortened(part), ensure_ascii=False) for part in parts]


def shortened(value, digits=5):
    """Round numbers to a few digits, because the last digits depend on versions of other libraries."""
    if isinstance(value, dict):
        return {name: shortened(item, digits) for name, item in value.items()}
    if isinstance(value, list):
        return [shortened(item, digits) for item in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def hold(node, texts, update_stored):
    """Compare the output of a test with its stored output."""
    base = next(parent for parent in node.path.parents if parent.parent.name == "tests")
    within = node.path.relative_to(base)
    file = base / "screens" / f"{base_name(within.parts[0])}.txt"
    name = f"{within.as_posix()}::{node.name}"
    lines = [line for text in texts for line in laid_out(text, node)]
    stored = sections(file)
    if (
        (name not in stored or hasattr(node, "callspec"))
        and not update_stored
        and pytest.version_tuple < (9,)
    ):
        return  # it numbers the cases of a test otherwise
    before = stored.pop(name, [])
    if update_stored and lines != before:
        stored[name] = lines
        write(file, {key: below for key, below in stored.items() if below and is_defined(base, key)})
    elif difference("\n".join(before), "\n".join(lines)):
        changes = difflib.unified_diff(before, lines, "stored", "made", lineterm="")
        pytest.fail("\n".join(["if this change is intended, rewrite the file with --write-made", *changes]))
    stored[name] = lines


def laid_out(text, node):
    """Return the lines of a text without blanks, rules, file locations, version and durations."""
    place = str(node.funcargs.get("tmp_path", "\0"))
    if place in text:  # line breaks depend on the length of this path
        text = "\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    for old, new in ((place, "PLACE"), (f"{ROOT}/", ""), (f"riskrank {__version__}", "riskrank")):
        text = text.replace(old, new)
    lines = (re.sub("[ ─]+", " ", line).strip() for line in text.splitlines() if line[:6] != "note: ")
    return ["", *(f"| {line}" for line in lines if line)][:LINES] if text.strip() else []


@cache
def sections(file):
    """Return the stored lines by test name."""
    text = file.read_text("utf-8") if file.exists() else ""
    parts = (part.splitlines() for part in re.split("^# ", text, flags=re.MULTILINE)[1:])
    return {name: lines for name, *lines in parts}


def write(file, stored):
    file.parent.mkdir(exist_ok=True)
    text = "".join("\n".join([f"# {name}", *stored[name], ""]) for name in sorted(stored))
    file.write_text(text, "utf-8")


def is_defined(base, name):
    """Return whether a test still exists."""
    path, _, test = name.partition("::")
    return (base / path).exists() and f"def {test.partition('[')[0]}(" in (base / path).read_text("utf-8")
