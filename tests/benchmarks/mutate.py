"""Mutation testing: change the package in small random ways, and check that some test fails.

A mutant differs in one operator, comparison, constant or condition. Its tests are those that run the changed
line in an initial coverage run: first those of its file, then those of its package, then all others. The
first failure kills the mutant. Survivors are printed with their line: either a test is missing, or the mutant
is equivalent. Lines that only run in a subprocess are not covered.

    python tests/benchmarks/mutate.py --mutants 150 --seed 0 --jobs 2
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[2]
# Tests that may notice, the nearest first; the page has a browser of its own to look with.
SUITE = ("tests/engine", "tests/scores", "tests/studies", "tests/test_api.py", "tests/render", "tests/cli")

# What stands for what, both ways.
_SWAPPED = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
)
_OPPOSED = ((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.And, ast.Or))
COMPARISONS = {left: right for pair in _SWAPPED for left, right in (pair, pair[::-1])}
OPERATORS = {left: right for pair in _OPPOSED for left, right in (pair, pair[::-1])} | {
    ast.FloorDiv: ast.Mult
}
PYTEST = [
    sys.executable,
    *["-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "thorough"],
]
PYTEST += ["-m", "not slow and not page"]


@dataclass(frozen=True)
class Mutant:
    """Mutant: the file, the line, and the mutated source."""

    path: Path
    line: int
    before: str
    after: str
    source: str


def sites(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes that can be mutated, except in annotations, docstrings and error messages."""
    nodes: list[ast.AST] = []

    def walk(node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
                    continue
                # zip(strict=...) only tells of a mistake in the code itself.
                if isinstance(child, ast.keyword) and child.arg == "strict":
                    continue
                if isinstance(child, ast.AST):
                    if _mutable(child):
                        nodes.append(child)
                    walk(child)

    walk(tree)
    return nodes


def _mutable(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        return type(node.op) in OPERATORS
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not | ast.USub)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)


def mutate(node: ast.AST) -> ast.AST:
    """Return the node with one change."""
    if isinstance(node, ast.Compare):
        node.ops = [COMPARISONS[type(node.ops[0])]()]
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        return node.operand
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = (not value) if isinstance(value, bool) else value + 1
    return node


def make(path: Path, number: int) -> Mutant:
    """Mutate the numbered site of a file; the rest of the source stays the same."""
    source = path.read_text(encoding="utf-8")
    node = sites(ast.parse(source))[number]
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    before = source.encode()[start:end].decode()
    changed = ast.unparse(mutate(node))
    # An operand may need the brackets that the tree does not show.
    text = changed if isinstance(node, ast.Constant | ast.AugAssign) else f"({changed})"
    mutated = source.encode()[:start].decode() + text + source.encode()[end:].decode()
    ast.parse(mutated)
    return Mutant(path.relative_to(ROOT), node.lineno, before, text, mutated)


def lines_of_tests(checkout: Path, jobs: int) -> coverage.CoverageData:
    """Run the suite once and record which test runs which line."""
    command = [*PYTEST, "-n", str(jobs), "--cov=riskrank", "--cov-context=test", "--cov-report="]
    subprocess.run([*command, *SUITE], cwd=checkout, env=_environment(checkout), check=False)
    data = coverage.CoverageData(str(checkout / ".coverage"))
    data.read()
    return data


def tests_of(mutant: Mutant, checkout: Path, data: coverage.CoverageData) -> list[list[str]]:
    """Return the tests that run the mutated line, in rounds from the nearest to all others."""
    parts = mutant.path.parts[1:]  # without "riskrank"
    package = Path("tests", *parts[:-1])
    near = package / f"test_{mutant.path.stem}.py"
    contexts = data.contexts_by_lineno(str(checkout / mutant.path)).get(mutant.line, [])
    # "tests/a/test_b.py::test_c[1]|run"; with all its parameters a test is simpler to name.
    running = sorted({context.partition("|")[0].partition("[")[0] for context in contexts} - {""})
    if not running:  # a line that runs when its module is imported: any test may notice
        near = [str(near)] if (ROOT / near).exists() else []
        return [
            selection for selection in (near, [str(package)], [f"tests/{parts[0]}"], [*SUITE]) if selection
        ]
    rounds = [
        [test for test in running if test.startswith(f"{near}::")],
        [test for test in running if test.startswith(f"{package}/")],
        [test for test in running if test.startswith("tests/engine/")],
        [test for test in running if not test.startswith(("tests/render/", "tests/cli/"))],
        running,
    ]
    done: set[str] = set()
    for tests in rounds:
        tests[:] = [test for test in tests if test not in done]
        done.update(tests)
    return [selection for selection in rounds if selection]


def _environment(checkout: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}


def killed_by(mutant: Mutant, rounds: list[list[str]], checkout: Path, timeout: float) -> str | None:
    """Return the name of the first test in a round that fails, or None."""
    target = checkout / mutant.path
    original = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    try:
        for tests in rounds:
            try:
                done = subprocess.run(
                    [*PYTEST, "-x", *tests],
                    cwd=checkout,
                    env=_environment(checkout),
                    capture_output=True,
                    timeout=timeout,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"{tests[0]} (timeout)"
            if done.returncode not in (0, 5):
                return tests[0]
        return None
    finally:
        target.write_text(original, encoding="utf-8")


def main() -> None:
    """Create mutants, run their tests, and print the survivors and the share of killed mutants."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a round of tests may take")
    parser.add_argument("--only", default="", help="only files whose path holds this")
    options = parser.parse_args()
    files = [path for path in sorted((ROOT / "riskrank").rglob("*.py")) if options.only in str(path)]
    pool = [(path, n) for path in files for n in range(len(sites(ast.parse(path.read_text("utf-8")))))]
    chosen = random.Random(options.seed).sample(pool, min(options.mutants, len(pool)))
    with tempfile.TemporaryDirectory() as folder:
        checkouts = []
        for number in range(options.jobs):
            checkout = Path(folder, str(number))
            shutil.copytree(
                ROOT, checkout, ignore=shutil.ignore_patterns(".git", ".venv", "build", "*.egg-info")
            )
            checkouts.append(checkout)
        data = lines_of_tests(checkouts[0], options.jobs)
        free = list(checkouts)

        def run(place: tuple[Path, int]) -> bool:
            checkout = free.pop()
            try:
                mutant = make(*place)
                rounds = tests_of(mutant, checkouts[0], data)
                killer = killed_by(mutant, rounds, checkout, options.timeout)
            finally:
                free.append(checkout)
            verdict = f"killed by {killer}" if killer else "SURVIVED"
            print(f"{verdict}  {mutant.path}:{mutant.line}  {mutant.before}  ->  {mutant.after}", flush=True)
            return killer is not None

        with ThreadPoolExecutor(options.jobs) as executor:
            killed = list(executor.map(run, chosen))
    share = 100 * sum(killed) / len(killed)
    print(f"{sum(killed)} of {len(killed)} mutants killed ({share:.1f} %), of {len(pool)} there are")


if __name__ == "__main__":
    main()
