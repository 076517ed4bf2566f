"""Imports point downwards: interfaces, report and studies, scores and engine, errors."""

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
from riskrank.options.commands import COMMANDS, DOC_TYPES
from tests.test_size import code_lines

# `make lint` runs it.
pytestmark = pytest.mark.slow

PACKAGE = Path(riskrank.__file__).parent
FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
HEAVY = {"numpy", "polars", "scipy", "rich", "highspy", "matplotlib"}


def layer(name: str) -> str:
    """Return the layer of a module; options, screens and figures of a command belong to their own layers."""
    parts = name.split(".")
    if len(parts) < 2 or parts[0] != "riskrank":
        return ""
    if parts[1] == "studies" and len(parts) > 3:
        return {"options": "options", "screen": "render", "figures": "render"}.get(parts[3], "studies")
    return parts[1]


def imported_by(node: ast.AST) -> Iterator[str]:
    """Yield the names of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute here"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports(tree: ast.AST, *, top_level_only: bool = False) -> Iterator[str]:
    """Yield the names of imported modules, optionally without functions and ``if TYPE_CHECKING``."""
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
    """Yield a node and all its descendants, three times faster than ``ast.walk``."""
    below = [top]
    for node in below:  # which grows meanwhile
        for value in vars(node).values():
            if type(value) is list:
                below += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                below.append(value)
    return below


@cache
def nodes(name: str) -> list[ast.AST]:
    return walk(tree(name))


@cache
def imported(name: str) -> tuple[str, ...]:
    return tuple(target for node in nodes(name) for target in imported_by(node))


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def of(*layers: str) -> list[str]:
    return [name for name in FILES if layer(name) in layers]


@pytest.fixture(scope="module", autouse=True)
def without_garbage_collection():
    """Disable garbage collection, which takes most of the time for the syntax trees of the package."""
    gc.disable()
    yield
    for cached in (text_of, tree, nodes, imported):
        cached.cache_clear()
    gc.enable()


def test_modules_and_imports_are_collected():
    assert min(len(of(name)) for name in ("engine", "scores", "studies", "render", "cli")) > 5
    assert {*map(id, walk(tree("riskrank.api")))} == {*map(id, ast.walk(tree("riskrank.api")))}
    assert list(imports(ast.parse("def f():\n  from a.b import c\n  import d"))) == ["a.b.c", "d"]
    lazily = "if TYPE_CHECKING:\n  import a\ndef f():\n  import b\ntry:\n  import c\nexcept E: pass"
    assert list(imports(ast.parse(lazily), top_level_only=True)) == ["c"]


def third_party_imports(name: str, *allowed: str) -> list[str]:
    """Return the imports of a module from outside the given packages and the standard library."""
    return [
        f"{name} imports {target}"
        for target in imported(name)
        if not within(target, *allowed) and target.split(".")[0] not in sys.stdlib_module_names
    ]


def test_the_engine_imports_numbers_only():
    allowed = ("numpy", "scipy", "highspy", "riskrank.engine", "riskrank.errors")
    assert [line for name in of("engine") for line in third_party_imports(name, *allowed)] == []


def test_options_import_no_library():
    allowed = ("riskrank.options", "riskrank.errors", *of("options"))
    assert [line for name in of("options") for line in third_party_imports(name, *allowed)] == []


def prints(node: ast.AST) -> bool:
    """Return whether a node names ``print`` or a standard stream."""
    if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr", "stdin"):
        return ast.unparse(node.value) == "sys"
    return isinstance(node, ast.Name) and node.id == "print"


def test_only_cli_and_rendering_print():
    assert [*map(prints, ast.walk(ast.parse("print; sys.stderr; done.stderr")))].count(True) == 2
    printing = [
        f"{name}, line {node.lineno}"
        for name in of("options", "engine", "scores", "studies")
        for node in nodes(name)
        if prints(node)
    ]
    assert printing == []


ALLOWED = {
    "render": ("options", "engine", "studies", "render", "errors"),
    "studies": ("options", "engine", "scores", "studies", "errors"),
    "scores": ("options", "engine", "scores", "errors"),
    "options": ("options", "errors"),
    "errors": (),
    "version": (),
}


def test_layers_import_downwards():
    upwards = [
        f"{name} imports {target}"
        for name in of(*ALLOWED)
        for target in imported(name)
        if within(target, "riskrank") and layer(target) not in (*ALLOWED[layer(name)], "version")
    ]
    assert upwards == []


# The packages of scores, each level above the next. Tables and layouts still import each other.
LEVELS = (("table", "layouts"), ("exports",), ("files",), ("names",))


def test_packages_of_scores_import_downwards():
    """Containers import no harness reader, and harness readers import no roles of columns."""
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


def test_rendering_calls_no_engine_function():
    """Rendering uses types and constants of the engine, but no functions."""
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
    "riskrank.studies.gsd.figures": "nodes stand above the middle of those they lie above",
}


def last_name(function: ast.expr) -> str:
    """Return the name of a called function, without its module or object."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def computed(tree: ast.AST) -> Iterator[str]:
    """Yield the statistics that code computes: calls with known names, and quotients with a sum or count."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) in STATISTICS:
            yield ast.unparse(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
            if any(last_name(call.func) in ("sum", "nansum", "fsum") for call in calls):
                yield ast.unparse(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"import {call}" for call in imports(node) if call.startswith("statistics"))


def test_statistics_are_recognised():
    for text in ("x.mean(axis=1)", "np.std(x)", "sum(x) / len(x)", "x.sum(axis=0) / n", "frame.group_by(m)"):
        assert list(computed(ast.parse(text))), text
    for text in ("steady.mean", "width / len(rows)", "sum(widths)", "document.means()", "import_module(x)"):
        assert not list(computed(ast.parse(text))), text


def test_rendering_computes_no_statistics():
    """Means and deviations are computed by studies, so that all interfaces and formats report the same."""
    statistics = {name: list(computed(tree(name))) for name in of("render")}
    assert {name: calls for name, calls in statistics.items() if bool(calls) != (name in GEOMETRY)} == {}


def test_only_the_entry_point_imports_cli():
    importers = {
        name for name in FILES for target in imported(name) if within(target, "riskrank.cli", "typer")
    }
    assert {name for name in importers if layer(name) not in ("cli", "__main__")} == set()


def test_scipy_stats_is_not_imported():
    """Its import takes a second."""
    assert [name for name in FILES for target in imported(name) if within(target, "scipy.stats")] == []
    # In the code; a comment may name it.
    named = [name for name in FILES if "scipy.stats" in text_of(name)]
    importers = [
        name for name in named if "scipy.stats" in ast.unparse(tree(name)).replace("``scipy.stats``", "")
    ]
    assert importers == []


def slow_to_load(name: str) -> Iterator[str]:
    """Yield heavy modules that an entry point imports when it is loaded."""
    for target in imports(tree(name), top_level_only=True):
        if target.split(".")[0] in HEAVY:
            yield target
        if name in {f"riskrank.{row.steps.partition(':')[0]}" for row in COMMANDS} - {"riskrank.cli.session"}:
            continue  # loaded when the command runs
        if within(target, "riskrank.scores.exports.catalogue") or layer(target) == "options":
            continue  # tables that import nothing
        # What lies below imports NumPy and Polars.
        if within(target, "riskrank.engine", "riskrank.scores", "riskrank.studies", "riskrank.render"):
            yield target


def test_entry_points_load_fast():
    entry_points = of("cli", "errors", "__main__", "__init__")
    assert [f"{name} imports {target}" for name in entry_points for target in slow_to_load(name)] == []


def test_no_global_random_state():
    streams = ("Generator", "SeedSequence", "PCG64", "SFC64", "Philox", "default_rng")
    uses = [
        f"{name}, line {node.lineno}: np.random.{node.attr}"
        for name in FILES
        if "random" in text_of(name)
        for node in nodes(name)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random")
        if node.attr not in streams
    ]
    assert uses == []


def called(tree: ast.AST) -> Iterator[str]:
    """Yield our modules named in strings, as in ``import_module("riskrank.a.b")`` and ``"riskrank.a:b"``."""
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
            matches = [name for name in FILES if re.fullmatch(pattern, name)]
            yield from matches or [pattern.replace("\\", "")]


# Modules that load the entries of the command table.
RESOLVED = {
    "riskrank.render.sections": [f"riskrank.studies.{paper.view}" for paper in DOC_TYPES.values()],
    "riskrank.render.schema": [f"riskrank.studies.{paper.documents}" for paper in DOC_TYPES.values()],
    "riskrank.render.figures.catalogue": [
        f"riskrank.studies.{paper.figures}" for paper in DOC_TYPES.values() if paper.figures
    ],
    "riskrank.render.dispatch": [f"riskrank.studies.{name}.screen" for name in ("diff", "gate", "trend")],
    "riskrank.api": [f"riskrank.studies.{row.study}" for row in COMMANDS if row.study],
    "riskrank.cli.session": [f"riskrank.studies.{row.study}" for row in COMMANDS if row.study],
    "riskrank.cli.main": [f"riskrank.{row.steps}" for row in COMMANDS],
}


# Tables of their own, and the function that loads.
OTHER_LOADERS = {"riskrank.scores.exports.registry", "riskrank.options.commands"}


def test_only_listed_modules_load_the_command_table():
    for name in FILES:
        text = text_of(name)
        loads = (
            re.search(r'import_module\(f"|\bload_object\("riskrank|import_module\(f"\{home', text) is not None
        )
        assert loads == (name in {*RESOLVED, *OTHER_LOADERS}), name


def loaded(name: str) -> set[str]:
    """Return our modules that a module imports anywhere, without their parent packages."""
    modules = set()
    rows = [text.partition(":")[0] for text in RESOLVED.get(name, ())]
    for target in (*imported(name), *called(tree(name)), *rows):
        if target == "riskrank":
            continue  # the package's own file is there before all others
        above = target.rpartition(".")[0]
        places = (target, f"{target}.__init__", above, f"{above}.__init__")
        modules |= {next((place for place in places if place in FILES), name)}
    return modules - {name}


def cycle_among(modules: dict[str, set[str]]) -> list[str]:
    """Return the modules on a cycle or between two cycles, by removing leaves at both ends."""
    left = dict(modules)
    while True:
        needed = {target for targets in left.values() for target in targets}
        remaining = {name: targets & set(left) for name, targets in left.items() if name in needed}
        remaining = {name: targets for name, targets in remaining.items() if targets & set(remaining)}
        if remaining == left:
            return sorted(left)
        left = remaining


def test_imports_are_acyclic():
    assert cycle_among({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]
    assert cycle_among({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycle_among({name: loaded(name) for name in FILES}) == []


def test_texts_that_name_modules_are_imports():
    text = (
        'import_module("riskrank.render.view"); '
        'x = {"a": "riskrank.studies.check.study:check"}; f"riskrank.cli.{x}"'
    )
    modules = set(called(ast.parse(text)))
    assert {"riskrank.render.view", "riskrank.studies.check.study.check"} <= modules
    assert "riskrank.studies.rank.screen.__init__" in loaded("riskrank.render.sections")
    assert "riskrank.render.page.page" in loaded("riskrank.render.dispatch")


def test_class_names_are_unique():
    """A class name has a single meaning in the package; readers of files may repeat one."""
    places: dict[str, list[str]] = {}
    for name in FILES:
        if layer(name) != "scores":
            for node in nodes(name):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(name)
    repeated = {name for name, modules in places.items() if len(modules) > 1}
    assert repeated <= {"Settings"}, repeated  # of groups of options, and of a study


# Files of more than 400 code lines and functions of more than 60 (without their docstring), and the reason.
LONG_FILES = {"riskrank.scores.exports.reader": "all that the author of an export reader needs, in one place"}
LONG_FUNCTIONS: dict[str, str] = {}


def length(function: ast.FunctionDef) -> int:
    """Return the number of lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or 0) - docstring.lineno + 1)


def test_long_files_have_a_reason():
    long = {name for name in FILES if code_lines(text_of(name)) > 400}
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
