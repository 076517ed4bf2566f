"""The steps of CONTRIBUTING work: its paths exist, and its files run in a copy of the package."""

import ast
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.programs import run_program

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)

# Names of the page's new files; all other files on the page exist.
NEW = [
    "tests/scores/exports/written/arena/arena/log.jsonl",
    "riskrank/studies/tally/options.py",
    "riskrank/studies/tally/study.py",
    "riskrank/studies/tally/screen.py",
    "docs/tally.md",
]
# Tests of the metric of risk and of the file format that the page adds.
TESTS = {
    "tests/engine/portfolio/test_worst_case.py": """
import numpy as np

from riskrank.engine.portfolio.mean_risk import mean_risk
from riskrank.engine.portfolio.risks import risk_columns


def test_mean_minus_worst_case_is_the_worst():
    result = mean_risk([np.array([3.0, 1.0, 2.0]), np.array([0.0, 9.0])], risk_columns(["worst-case"]))
    assert result.value[:, 0].tolist() == [1.0, 0.0]
""",
    "tests/scores/exports/test_arena.py": """
from pathlib import Path

from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores
from tests.scores.exports.test_wrong_types import CASES


def test_points():
    path = Path("tests/scores/exports/written/arena/arena/log.jsonl")
    assert only_reader_of(path) == "arena"
    assert_long(read("arena", path))
    assert scores(read("arena", path)) == {("a", "t1", "points"): 3.0}
    assert ("arena", "arena") in [case.values for case in CASES]
""",
}
# Rows of tables, in the words of the page or as it describes them.
ROWS = {
    "riskrank/engine/portfolio/risks.py": (
        ("DEFAULT_LEVELS =", "{function}\n\nDEFAULT_LEVELS ="),
        ("for row in (\n", "for row in (\n        {row},\n"),
    )
}


def test_named_files_exist():
    for path in re.findall(r"`((?:riskrank|tests|docs|\.ci)/[\w./-]*)`", PAGE):
        assert (ROOT / path).exists() or path in NEW, path
    for path in NEW:
        assert f"`{path}`" in PAGE, path
        assert not (ROOT / path).exists(), path
    assert "RISKS" in (ROOT / "riskrank/engine/portfolio/risks.py").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)", PAGE, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("code", SNIPPETS)
def test_snippets_compile(code):
    ast.parse(code)


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory):
    """Return a copy of the package with all additions of the page."""
    copy = tmp_path_factory.mktemp("copy")
    bare = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "riskrank", copy / "riskrank", ignore=bare)
    for folder in ("tests/engine/portfolio", "tests/scores/exports", "tests/cli"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=bare)
    shutil.copy(ROOT / "tests/tables.py", copy / "tests")
    # An additional risk changes the results of tests, so they are not compared with stored ones.
    (copy / "tests/screens.py").write_text("RECORDED, screens = [], None\n", encoding="utf-8")
    begins = {"{function}": "def ", "{row}": "Risk("}
    parts = {
        place: next(code for code in SNIPPETS if code.startswith(head)) for place, head in begins.items()
    }
    files = [code for code in SNIPPETS if code.startswith(('"""', "import", "from"))]
    for path, code in zip((path for path in NEW if path.endswith(".py")), files, strict=True):
        (copy / path).parent.mkdir(exist_ok=True)
        (copy / path).write_text(code, encoding="utf-8")
    tables = ("riskrank/scores/exports/formats.toml", "riskrank/options/commands.toml")
    rows = re.findall(r"^```toml\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    for path, row in zip(tables, rows, strict=True):
        with (copy / path).open("a", encoding="utf-8") as table:
            table.write(f"\n{row}")
    sample = next(path for path in NEW if path.endswith(".jsonl"))
    (copy / sample).parent.mkdir(parents=True)
    (copy / sample).write_text(re.search(r"`(\{.*\})`", PAGE)[1] + "\n", encoding="utf-8")
    for path, code in TESTS.items():
        (copy / path).write_text(code, encoding="utf-8")
    for path, changes in ROWS.items():
        text = (copy / path).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, f"{path} has no {old!r}"
            for place, code in parts.items():
                new = new.replace(place, code.strip())
            text = text.replace(old, new, 1)
        (copy / path).write_text(text, encoding="utf-8")
    return copy


def run_in_copy(copy: Path, *words: str) -> str:
    done = run_program(sys.executable, *words, cwd=copy, env={"PYTHONPATH": str(copy)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_of_the_page_pass_in_the_copy(package_copy):
    tests = list(TESTS)
    output = run_in_copy(
        package_copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *tests
    )
    assert "2 passed" in output


def test_tests_of_mean_risk_pass_with_an_additional_risk(package_copy):
    """One function, one row and its own test are enough."""
    tests = ("tests/engine/portfolio/test_mean_risk.py", "tests/cli/test_mrm.py")
    mode = ("-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    run_in_copy(package_copy, "-m", "pytest", *mode, *tests)


def test_the_new_risk_and_the_new_command_run_in_the_copy(package_copy):
    table = package_copy / "scores.csv"
    lines = [f"{model},{n},{n * step % 7}" for model, step in (("a", 2), ("b", 3)) for n in range(12)]
    table.write_text("model,sample,m\n" + "\n".join(lines) + "\n")
    arguments = ("scores.csv", "--wide", "--higher", "m", "--quiet")
    assert "w mean minus worst" in run_in_copy(
        package_copy, "-m", "riskrank", "mrm", *arguments, "--no-test", "--explain"
    )
    assert '"title": "riskrank/tally"' in run_in_copy(package_copy, "-m", "riskrank", "schema", "tally")
    assert "Samples by model" in run_in_copy(package_copy, "-m", "riskrank", "tally", *arguments)
    assert '"top": 1' in run_in_copy(
        package_copy, "-m", "riskrank", "tally", *arguments, "--top", "1", "--format", "json"
    )
    assert "--top N" in run_in_copy(package_copy, "-m", "riskrank", "tally", "--help")
    code = "import riskrank as rr; print(rr.tally('scores.csv', wide=True, higher='m', top=1).frame)"
    assert "shape: (1, 2)" in run_in_copy(package_copy, "-c", code)
    assert "Arena: logs of points." in run_in_copy(package_copy, "-m", "riskrank", "convert", "--help")
