"""What CONTRIBUTING tells a newcomer to do works: paths exist, and its files run in a copy of the package."""

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

# What the page's new files are called; everything else it names is there.
NEW = [
    "tests/engine/portfolio/test_worst_case.py",
    "riskrank/scores/exports/arena.py",
    "tests/scores/exports/test_arena.py",
    "riskrank/studies/tally/options.py",
    "riskrank/studies/tally/study.py",
    "riskrank/studies/tally/screen.py",
    "docs/tally.md",
]
# Rows of tables, in the words of the page or as it describes them.
ROWS = {
    "riskrank/engine/portfolio/risks.py": (
        ("DEFAULT_LEVELS =", "{function}\n\nDEFAULT_LEVELS ="),
        ("for row in (\n", "for row in (\n        {row},\n"),
    ),
    "riskrank/scores/exports/catalogue.py": (
        ("= {\n", '= {\n    "arena": ("arena", "Arena: logs of points."),\n'),
    ),
    "riskrank/options/commands.py": (("\n)\n\nBY_NAME", "\n    {command},\n)\n\nBY_NAME"),),
}


def test_what_is_named_exists():
    for path in re.findall(r"`((?:riskrank|tests|docs|\.ci)/[\w./-]*)`", PAGE):
        assert (ROOT / path).exists() or path in NEW, path
    for path in NEW:
        assert f"`{path}`" in PAGE, path
        assert not (ROOT / path).exists(), path
    for name, path in [("RISKS", "engine/portfolio/risks.py"), ("EXPORTS", "scores/exports/catalogue.py")]:
        assert f"{name}" in (ROOT / "riskrank" / path).read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)", PAGE, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("code", SNIPPETS)
def test_snippets_compile(code):
    ast.parse(code)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package with all that the page adds, written as it says."""
    house = tmp_path_factory.mktemp("house")
    bare = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "riskrank", house / "riskrank", ignore=bare)
    for folder in ("tests/engine/portfolio", "tests/scores/exports", "tests/cli"):
        shutil.copytree(ROOT / folder, house / folder, ignore=bare)
    shutil.copy(ROOT / "tests/tables.py", house / "tests")
    # What tests compute is another thing with one more risk, and is not compared with what is stored.
    (house / "tests/screens.py").write_text("MADE, screens = [], None\n", encoding="utf-8")
    begins = {"{function}": "def ", "{row}": "Risk(", "{command}": "Command("}
    parts = {
        place: next(code for code in SNIPPETS if code.startswith(head)) for place, head in begins.items()
    }
    files = [code for code in SNIPPETS if code.startswith(('"""', "import", "from"))]
    for path, code in zip((path for path in NEW if path.endswith(".py")), files, strict=True):
        (house / path).parent.mkdir(exist_ok=True)
        (house / path).write_text(code, encoding="utf-8")
    for path, changes in ROWS.items():
        text = (house / path).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, f"{path} has no {old!r}"
            for place, code in parts.items():
                new = new.replace(place, code.strip())
            text = text.replace(old, new, 1)
        (house / path).write_text(text, encoding="utf-8")
    return house


def in_house(house: Path, *words: str) -> str:
    done = run_program(sys.executable, *words, cwd=house, env={"PYTHONPATH": str(house)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_of_the_page_pass_in_the_copy(house):
    tests = [path for path in NEW if path.startswith("tests/")]
    said = in_house(house, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *tests)
    assert "2 passed" in said


def test_tests_of_mean_risk_hold_with_one_more_risk(house):
    """One function, one row and its own test are enough."""
    tests = ("tests/engine/portfolio/test_mean_risk.py", "tests/cli/test_mrm.py")
    mode = ("-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    in_house(house, "-m", "pytest", *mode, *tests)


def test_the_new_risk_and_the_new_command_run_in_the_copy(house):
    table = house / "scores.csv"
    lines = [f"{model},{n},{n * step % 7}" for model, step in (("a", 2), ("b", 3)) for n in range(12)]
    table.write_text("model,sample,m\n" + "\n".join(lines) + "\n")
    given = ("scores.csv", "--wide", "--higher", "m", "--quiet")
    assert "w mean minus worst" in in_house(house, "-m", "riskrank", "mrm", *given, "--no-test", "--explain")
    assert '"title": "riskrank/tally"' in in_house(house, "-m", "riskrank", "schema", "tally")
    assert "Samples by model" in in_house(house, "-m", "riskrank", "tally", *given)
    assert '"top": 1' in in_house(house, "-m", "riskrank", "tally", *given, "--top", "1", "--format", "json")
    assert "--top N" in in_house(house, "-m", "riskrank", "tally", "--help")
    called = "import riskrank as rr; print(rr.tally('scores.csv', wide=True, higher='m', top=1).frame)"
    assert "shape: (1, 2)" in in_house(house, "-c", called)
    assert "Arena: logs of points." in in_house(house, "-m", "riskrank", "convert", "--help")
