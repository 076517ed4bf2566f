"""What tests compute, held whole: whatever they look at of it, all that is shown of it is stored.

A folder whose ``conftest.py`` has the fixture ``screens`` keeps it in ``screens/<room>.txt`` beside it, below
``# test_file.py::test_name[case]``: the first two results of a test, and of its first two cases, screen and
document, and what studies refuse. ``pytest tests/studies tests/cli tests/shown tests/engine -m "not slow"
-n 0 --write-made`` writes it anew, or a few of these; read the diff. What several tests share is a fixture of
their module, which is stored by none of them: a cache would give it to whoever runs first.
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
from riskrank.render.page.sections import chapters
from riskrank.render.sections import sections_with_parameters
from riskrank.render.view import Table, cell_text
from riskrank.results import Result, result_of
from riskrank.studies.document import Document
from riskrank.studies.rank.document import MEANING
from riskrank.version import __version__
from tests.examples import ROOT, difference

MOST = 2  # of the results of a test, and of its cases
ERRORS = 6  # of a test
SAID = re.compile(r"riskrank\.(studies|shown)\b")
LINES, WIDTH = 100, 98
ROWS = 4
MADE = []
# Of tests of what is no answer of a study, or of what is computed for several of them.
OTHERS = re.compile(
    "bad_input|ci_logs|help|hostile_.*|limits|output_files|pipes_and_devices|refusals|short_writes|"
    "skill|surroundings|"
    # Of the engine: orders of equal cost, and eigenvectors of either sign.
    "an_earlier_cost_stays_as_low_as_possible|unequal_runs_against_the_.*"
)


@pytest.fixture(autouse=True)
def screens(request, monkeypatch, write_made):
    """Keep what a test computes, and look at it when the test is over."""
    if hasattr(request.module, "RNG"):  # what is drawn is not to hang on which tests ran before
        monkeypatch.setattr(request.module, "RNG", np.random.default_rng(7))
    if not steady(request.node, most=sys.maxsize):
        yield
        return
    MADE.clear()
    for kind in (Result, RiskrankError, *kinds(Document)):
        if "__init__" in vars(kind):
            monkeypatch.setattr(kind, "__init__", kept(kind.__init__))
    yield
    monkeypatch.undo()
    hold(request.node, [*told(request.node)], write_made)


def kinds(of):
    """Classes of documents that are there by now."""
    return {of}.union(*map(kinds, of.__subclasses__()))


def kept(begin):
    """How something begins, which is looked at later; of errors, those of studies and of what shows them."""

    @wraps(begin)
    def begun(self, *args, **named):
        begin(self, *args, **named)
        if not isinstance(self, RiskrankError) or SAID.match(sys._getframe(1).f_globals["__name__"]):
            MADE.append(self)

    return begun


def told(node):
    """What is to be seen of results, or of documents where a test asks a study itself, and of errors."""
    if case_of(node) < MOST:
        ours = [one for one in MADE if type(one).__module__.startswith("riskrank.")]
        documents = [one for one in ours if isinstance(one, Document)][-MOST:]
        results = [one for one in MADE if not isinstance(one, RiskrankError | Document)][:MOST]
        for one in results or map(result_of, documents):
            yield from shown(one)
    yield from [*dict.fromkeys(str(one) for one in MADE if isinstance(one, UsageError | InputError))][:ERRORS]


def case_of(node):
    return max((getattr(node, "callspec", None) and node.callspec.indices.values()) or [0])


def steady(node, most=MOST):
    """Whether what a test computes hangs on code alone, takes no time, and is stored by no other."""
    if hasattr(node, "callspec") and {"told", "stored"} & {*node.callspec.params}:
        return False
    if case_of(node) >= most:
        return False
    if any(OTHERS.fullmatch(room_of(name)) for name in (node.path.name, node.name)):
        return False
    return not (node.get_closest_marker("slow") or hasattr(node.function, "hypothesis"))


def room_of(name):
    return name.removeprefix("test_").removesuffix(".py")


def shown(one):
    """What is to be seen of a result, or of a call of the command line that was not refused."""
    if isinstance(one, Result):
        document = one.document
        head = [document.question, MEANING.get(document.certainty, "")]
        head += [f"{name}: {told}" for name, told in one.pictures.items()]
        parts = [part for chapter in chapters(document) for part in chapter.parts]
        head += [f"{part.title}: {part.finding}" for part in parts if part.anchor != "glossary"]
        document = of_document(json.loads(one.to_json()))
        return ["\n".join(page(one.document)), "\n".join([*head, *document])]
    if not one.stdout or "\x1b" in one.stdout or one.stdout.startswith("<"):
        return []
    document = one.stdout.startswith("{\n") and "meta" in (found := json.loads(one.stdout))
    said = re.sub(r"takes about \d+ (\w+): .*", r"takes some \1", one.stderr)  # a clock tells how long
    return ["\n".join([f"exit {one.status}", *(of_document(found) if document else [one.stdout]), said])]


def page(document):
    """Words and cells of a whole screen; how they are laid out is held by tests/shown."""
    for section in sections_with_parameters(document, flags=False):
        if isinstance(section, Table):
            table = with_charts(section, WIDTH)
            rows = [[column.head for column in table.columns], *table.rows]
            yield from (table.title, *("  ".join(map(cell_text, row)).replace("\n", " ") for row in rows))
        else:
            text = f"{section.label} {section.text}"
            yield from textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def of_document(found):
    """A document in few lines: what is said, how it was done, and its first rows."""
    meta = {name: found["meta"].get(name) for name in ("verdict", "warnings", "method")}
    rest = {name: value for name, value in found.items() if name not in ("meta", "results")}
    parts = [*({name: value} for name, value in (meta | rest).items())]
    parts += [*found["meta"].get("findings", []), *found["results"][:ROWS]]
    return [json.dumps(shortened(part), ensure_ascii=False) for part in parts]


def shortened(value, digits=5):
    """Numbers with few digits: what other libraries make of the last ones is nobody's matter."""
    if isinstance(value, dict):
        return {name: shortened(one, digits) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one, digits) for one in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def hold(node, found, write_made):
    """Compare what is shown with what is stored for a test."""
    base = next(one for one in node.path.parents if one.parent.name == "tests")
    within = node.path.relative_to(base)
    file = base / "screens" / f"{room_of(within.parts[0])}.txt"
    name = f"{within.as_posix()}::{node.name}"
    lines = [line for text in found for line in laid_out(text, node)]
    stored = sections(file)
    if (name not in stored or hasattr(node, "callspec")) and not write_made and pytest.version_tuple < (9,):
        return  # it numbers the cases of a test otherwise
    before = stored.pop(name, [])
    if write_made and lines != before:
        stored[name] = lines
        write(file, {key: below for key, below in stored.items() if below and there(base, key)})
    elif difference("\n".join(before), "\n".join(lines)):
        changes = difflib.unified_diff(before, lines, "stored", "made", lineterm="")
        pytest.fail("\n".join(["if that is meant, write it anew with --write-made", *changes]))
    stored[name] = lines


def laid_out(text, node):
    """Lines of what is shown, less blanks, rules, the place of files, the version, and how long it takes."""
    place = str(node.funcargs.get("tmp_path", "\0"))
    if place in text:  # where lines end hangs on how long its name is
        text = "\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    for found, told in ((place, "PLACE"), (f"{ROOT}/", ""), (f"riskrank {__version__}", "riskrank")):
        text = text.replace(found, told)
    lines = (re.sub("[ ─]+", " ", line).strip() for line in text.splitlines() if line[:6] != "note: ")
    return ["", *(f"| {line}" for line in lines if line)][:LINES] if text.strip() else []


@cache
def sections(file):
    """Lines by the name of their test."""
    text = file.read_text("utf-8") if file.exists() else ""
    parts = (part.splitlines() for part in re.split("^# ", text, flags=re.MULTILINE)[1:])
    return {name: lines for name, *lines in parts}


def write(file, stored):
    file.parent.mkdir(exist_ok=True)
    text = "".join("\n".join([f"# {name}", *stored[name], ""]) for name in sorted(stored))
    file.write_text(text, "utf-8")


def there(base, name):
    """Whether a test is still there."""
    path, _, test = name.partition("::")
    return (base / path).exists() and f"def {test.partition('[')[0]}(" in (base / path).read_text("utf-8")
