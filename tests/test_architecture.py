"""Imports point down: two doors over report and studies, those over scores and engine, all over errors."""

import ast
import gc
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import riskrank
from riskrank.options.commands import COMMANDS, PAPERS

PACKAGE = Path(riskrank.__file__).parent
FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
HEAVY = {"numpy", "polars", "scipy", "rich", "highspy", "matplotlib"}


def layer(name: str) -> str:
    """The storey of a module; of a command's room the options are asked, the screens and figures shown."""
    parts = name.split(".")
    if len(parts) < 2 or parts[0] != "riskrank":
        return ""
    if parts[1] == "studies" and len(parts) > 3:
        return {"options": "options", "screen": "render", "figures": "render"}.get(parts[3], "studies")
    return parts[1]


def imported_by(node: ast.AST) -> Iterator[str]:
    """Names of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute here"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports(tree: ast.AST, *, top_level_only: bool = False) -> Iterator[str]:
    """Names of imported modules, on demand without those of functions and ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported_by(node)
        elif top_level_only and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        ):
            continue
        else:
            yield from imports(node, top_level_only=top_level_only)


@cache
def text_of(name: str) -> str:
    return FILES[name].read_text(encoding="utf-8")


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(text_of(name))


def walk(top: ast.AST) -> list[ast.AST]:
    """A node and all below it, as ``ast.walk`` has them in three times the time."""
    found = [top]
    for node in found:  # which grows meanwhile
        for value in vars(node).values():
            if type(value) is list:
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@cache
def nodes(name: str) -> list[ast.AST]:
    return walk(tree(name))


@cache
def imported(name: str) -> tuple[str, ...]:
    return tuple(found for node in nodes(name) for found in imported_by(node))


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def of(*layers: str) -> list[str]:
    return [name for name in FILES if layer(name) in layers]


@pytest.fixture(scope="module", autouse=True)
def unswept():
    """Trees of the whole package have so many nodes that most time went into looking for garbage there."""
    gc.disable()
    yield
    for kept in (text_of, tree, nodes, imported):
        kept.cache_clear()
    gc.enable()


def test_there_is_something_to_look_at():
    assert min(len(of(name)) for name in ("engine", "scores", "studies", "render", "cli")) > 5
    assert {*map(id, walk(tree("riskrank.api")))} == {*map(id, ast.walk(tree("riskrank.api")))}
    assert list(imports(ast.parse("def f():\n  from a.b import c\n  import d"))) == ["a.b.c", "d"]
    lazily = "if TYPE_CHECKING:\n  import a\ndef f():\n  import b\ntry:\n  import c\nexcept E: pass"
    assert list(imports(ast.parse(lazily), top_level_only=True)) == ["c"]


def beside(name: str, *allowed: str) -> list[str]:
    """What a module imports besides these packages and the standard library."""
    return [
        f"{name} imports {found}"
        for found in imported(name)
        if not within(found, *allowed) and found.split(".")[0] not in sys.stdlib_module_names
    ]


def test_the_engine_imports_numbers_only():
    allowed = ("numpy", "scipy", "highspy", "riskrank.engine", "riskrank.errors")
    assert [found for name in of("engine") for found in beside(name, *allowed)] == []


def test_what_can_be_asked_needs_no_library():
    allowed = ("riskrank.options", "riskrank.errors", *of("options"))
    assert [found for name in of("options") for found in beside(name, *allowed)] == []


def prints(node: ast.AST) -> bool:
    """Whether it names ``print``, or a standard stream."""
    if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr", "stdin"):
        return ast.unparse(node.value) == "sys"
    return isinstance(node, ast.Name) and node.id == "print"


def test_nothing_is_printed_below():
    assert [*map(prints, ast.walk(ast.parse("print; sys.stderr; done.stderr")))].count(True) == 2
    found = [
        f"{name}, line {node.lineno}"
        for name in of("options", "engine", "scores", "studies")
        for node in nodes(name)
        if prints(node)
    ]
    assert found == []


ALLOWED = {
    "render": ("options", "engine", "studies", "render", "errors"),
    "studies": ("options", "engine", "scores", "studies", "errors"),
    "scores": ("options", "engine", "scores", "errors"),
    "options": ("options", "errors"),
    "errors": (),
    "version": (),
}


def test_imports_of_ours_point_down():
    upwards = [
        f"{name} imports {found}"
        for name in of(*ALLOWED)
        for found in imported(name)
        if within(found, "riskrank") and layer(found) not in (*ALLOWED[layer(name)], "version")
    ]
    assert upwards == []


# The packages of scores, each level above the next. Tables and layouts still import each other.
LEVELS = (("table", "layouts"), ("exports",), ("files",), ("names",))


def test_packages_of_scores_import_downwards():
    """Containers know no harness, and harnesses no roles."""
    levels = [[f"riskrank.scores.{package}" for package in level] for level in LEVELS]
    upwards = [
        f"{name} imports {target}"
        for name in FILES
        for at, level in enumerate(levels)
        if within(name, *level)
        for target in imported(name)
        if within(target, "riskrank.scores") and not within(target, *chain(*levels[at:]))
    ]
    assert upwards == []


def test_reports_compute_nothing():
    """They show what studies found: of the engine they know types and constants, no function."""
    functions = [
        f"{name} computes with {alias.name}"
        for name in of("render")
        for node in nodes(name)
        if isinstance(node, ast.ImportFrom) and within(node.module or "", "riskrank.engine")
        for alias in node.names
        if alias.name[0].islower()
    ]
    assert functions == []


MEANS = {"mean", "nanmean", "average", "median", "quantile", "percentile"}
STATISTICS = MEANS | {"std", "var", "sd", "sem", "cov", "corrcoef", "sqrt", "bincount", "group_by", "agg"}
GEOMETRY = {
    "riskrank.render.figures.rows": "the middle of the heights of some lines",
    "riskrank.studies.gsd.figures.layers": "nodes stand above the middle of those they lie above",
}


def last_name(function: ast.expr) -> str:
    """What a function is called, without whose it is."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def computed(tree: ast.AST) -> Iterator[str]:
    """Statistics that some code computes: calls that are named so, and quotients with a sum or a count."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) in STATISTICS:
            yield ast.unparse(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
            if any(last_name(one.func) in ("sum", "nansum", "fsum") for one in calls):
                yield ast.unparse(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"import {one}" for one in imports(node) if one.startswith("statistics"))


def test_statistics_are_seen():
    for text in ("x.mean(axis=1)", "np.std(x)", "sum(x) / len(x)", "x.sum(axis=0) / n", "frame.group_by(m)"):
        assert list(computed(ast.parse(text))), text
    for text in ("steady.mean", "width / len(rows)", "sum(widths)", "document.means()", "import_module(x)"):
        assert not list(computed(ast.parse(text))), text


def test_what_lays_out_documents_computes_no_statistics():
    """Means and deviations are made by a study, so that every door and format tells the same."""
    found = {name: list(computed(tree(name))) for name in of("render")}
    assert {name: what for name, what in found.items() if bool(what) != (name in GEOMETRY)} == {}


def test_only_the_front_door_opens_cli():
    found = {name for name in FILES for one in imported(name) if within(one, "riskrank.cli", "typer")}
    assert {name for name in found if layer(name) not in ("cli", "__main__")} == set()


def test_scipy_stats_is_nowhere():
    """It takes a second to import."""
    assert [name for name in FILES for found in imported(name) if within(found, "scipy.stats")] == []
    # In the code; a comment may name it.
    named = [name for name in FILES if "scipy.stats" in text_of(name)]
    told = [name for name in named if "scipy.stats" in ast.unparse(tree(name)).replace("``scipy.stats``", "")]
    assert told == []


def slow_to_load(name: str) -> Iterator[str]:
    """What a module of the front door loads at once, and should not."""
    for found in imports(tree(name), top_level_only=True):
        if found.split(".")[0] in HEAVY:
            yield found
        if within(name, "riskrank.cli.commands") and not within(name, "riskrank.cli.commands.convert"):
            continue  # loaded when the command runs
        if within(found, "riskrank.scores.exports.catalogue") or layer(found) == "options":
            continue  # tables that import nothing
        # What lies below imports NumPy and Polars.
        if within(found, "riskrank.engine", "riskrank.scores", "riskrank.studies", "riskrank.render"):
            yield found


def test_the_front_door_opens_fast():
    doors = of("cli", "errors", "__main__", "__init__")
    assert [f"{name} imports {found}" for name in doors for found in slow_to_load(name)] == []


def test_no_global_random_state():
    streams = ("Generator", "SeedSequence", "PCG64", "SFC64", "Philox", "default_rng")
    found = [
        f"{name}, line {node.lineno}: np.random.{node.attr}"
        for name in FILES
        if "random" in text_of(name)
        for node in nodes(name)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random")
        if node.attr not in streams
    ]
    assert found == []


def called(tree: ast.AST) -> Iterator[str]:
    """Modules of ours that a text names, as ``import_module("riskrank.a.b")`` and ``"riskrank.a:b"`` do."""
    for node in walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            pattern = re.escape(node.value.replace(":", "."))
        elif isinstance(node, ast.JoinedStr):  # whatever stands in braces may be any name
            parts = [
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in node.values
            ]
            pattern = "".join(parts)
        else:
            continue
        if pattern.startswith(r"riskrank\."):
            found = [name for name in FILES if re.fullmatch(pattern, name)]
            yield from found or [pattern.replace("\\", "")]


# Who loads what the rows of the table of commands name.
RESOLVED = {
    "riskrank.render.sections": [f"riskrank.studies.{paper.view}" for paper in PAPERS.values()],
    "riskrank.render.schema": [f"riskrank.studies.{paper.documents}" for paper in PAPERS.values()],
    "riskrank.render.figures.catalogue": [
        f"riskrank.studies.{paper.figures}" for paper in PAPERS.values() if paper.figures
    ],
    "riskrank.api": [f"riskrank.studies.{row.study}" for row in COMMANDS if row.study],
    "riskrank.cli.session": [f"riskrank.studies.{row.study}" for row in COMMANDS if row.study],
    "riskrank.cli.main": [f"riskrank.cli.commands.{row.name}" for row in COMMANDS if row.own],
}


# Tables of their own, and the function that loads.
OTHERS = {"riskrank.scores.exports.registry", "riskrank.options.commands"}


def test_only_they_load_what_the_table_names():
    for name in FILES:
        text = text_of(name)
        loads = re.search(r'import_module\(f"|\bnamed\("riskrank\.|import_module\(f"\{home', text) is not None
        assert loads == (name in {*RESOLVED, *OTHERS}), name


def loaded(name: str) -> set[str]:
    """Modules of ours that a module imports, anywhere and in whatever way; not the packages on the way."""
    found = set()
    rows = [text.partition(":")[0] for text in RESOLVED.get(name, ())]
    for one in (*imported(name), *called(tree(name)), *rows):
        if one == "riskrank":
            continue  # the package's own file is there before all others
        above = one.rpartition(".")[0]
        places = (one, f"{one}.__init__", above, f"{above}.__init__")
        found |= {next((place for place in places if place in FILES), name)}
    return found - {name}


def cycle_among(modules: dict[str, set[str]]) -> list[str]:
    """Modules that are on a cycle, or between two: what remains when leaves are taken off at both ends."""
    left = dict(modules)
    while True:
        needed = {one for wanted in left.values() for one in wanted}
        kept = {name: wanted & set(left) for name, wanted in left.items() if name in needed}
        kept = {name: wanted for name, wanted in kept.items() if wanted & set(kept)}
        if kept == left:
            return sorted(left)
        left = kept


def test_no_imports_go_round():
    assert cycle_among({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]
    assert cycle_among({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycle_among({name: loaded(name) for name in FILES}) == []


def test_texts_that_name_modules_are_imports():
    text = (
        'import_module("riskrank.render.view"); '
        'x = {"a": "riskrank.studies.check.study:check"}; f"riskrank.cli.{x}"'
    )
    found = set(called(ast.parse(text)))
    assert {"riskrank.render.view", "riskrank.studies.check.study.check"} <= found
    assert "riskrank.studies.rank.screen.first" in loaded("riskrank.render.sections")
    assert "riskrank.render.page.page" in loaded("riskrank.render.dispatch")


def test_classes_have_names_of_their_own():
    """A name says one thing in the whole package; readers of files may repeat one, within their own room."""
    places: dict[str, list[str]] = {}
    for name in FILES:
        if layer(name) != "scores":
            for node in nodes(name):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(name)
    repeated = {name for name, where in places.items() if len(where) > 1}
    assert repeated <= {"Settings"}, repeated  # of groups of options, and of a study


# What is longer than a file of 300 lines or a function of 60 (without its docstring), and why.
LONG_FILES = {
    "riskrank.api": "one door: a function a command, and how they are made",
    "riskrank.engine.aggregation.kemeny": "one problem, by dynamic programming and by integer programs",
    "riskrank.options.commands": "one table of all commands, a third of it their words and examples",
    "riskrank.scores.table.inspection": "all problems a table can have, a short function each",
    "riskrank.scores.exports.inspect_logs": "one format, in its two containers",
    "riskrank.studies.rank.sentences": "one table: how each kind of finding is said",
    "riskrank.studies.groups.study": "the same study of every group, and what its documents share",
}
LONG_FUNCTIONS: dict[str, str] = {}


def length(function: ast.FunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    said = function.body[0]
    return lines - ((said.end_lineno or 0) - said.lineno + 1)


def test_long_files_have_a_reason():
    long = {name for name in FILES if len(text_of(name).splitlines()) > 300}
    assert sorted(long) == sorted(LONG_FILES)


def test_long_functions_have_a_reason():
    example = ast.parse('def f():\n  """Say\n  it."""\n  return 1').body[0]
    assert length(example) == 2
    long = {
        f"{name}.{node.name}"
        for name in FILES
        for node in nodes(name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > 60
    }
    assert sorted(long - set(LONG_FUNCTIONS)) == []
