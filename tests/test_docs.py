"""The README is short, links are valid, and references cited in the code are listed."""

import ast
import json
import re
from pathlib import Path

import pytest

from riskrank.cli.options import key_names
from riskrank.engine.portfolio.risks import RISKS
from riskrank.errors import SET_KEYS
from riskrank.options.commands import BY_NAME as COMMANDS
from riskrank.scores.exports.catalogue import EXPORTS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md") if (ROOT / name).exists()]
PAGES += [*sorted(DOCS.glob("*.md")), ROOT / "sample_data" / "README.md"]
METHOD = (DOCS / "method.md").read_text(encoding="utf-8")
NOTEBOOK = DOCS / "tour.ipynb"

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# A citation and what follows it in the sentence: "[RAB] section 2 and appendix D", "COPA App. A, eq. 16".
CITED = re.compile(
    r"(?:\[(RAB|GSD|COPA)[^\]]*\]|\bCOPA(?= \(?(?:eq|App|§|Fig)))((?:[^.;)]|\.(?=[ \d]*[\dA-F]))*)"
)
KINDS = r"eq\.|App\.|appendix|sections?|Tables?|Fig\.|Theorems?|Algorithm|definition|Proposition|remarks?|§"
PLACE = re.compile(
    rf"({KINDS}) ?([A-F\d][\d.]*[a-c]?(?:(?:, | and | to )[A-F\d][\d.]*[a-c]?(?![.\w]))*)", re.IGNORECASE
)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub creates for the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()) for head in heads]
    return {head.replace(" ", "-") for head in plain}


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_that_the_readme_names(name):
    page = DOCS / f"{name}.md"
    assert page.read_text(encoding="utf-8").startswith(f"# {name}")
    assert f"[`{name}`](docs/{name}.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "names"), [("mrm.md", RISKS), ("reading-files.md", EXPORTS), ("machine.md", key_names(SET_KEYS))]
)
def test_every_row_of_a_table_has_a_line_on_its_page(page, names):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert [name for name in names if f"\n| `{name}`" not in text] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    """Each option is on the command's page or in the generated manual."""
    from riskrank.cli.options import flag_options
    from riskrank.errors import spell

    row = COMMANDS[name]
    if name == "convert":  # a group of commands, each of which has its section
        return
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    manual = (DOCS / "manual" / "riskrank.1").read_text(encoding="utf-8").replace("\\-", "-")
    section = manual.partition(f".SS riskrank {name}\n")[2].partition(".SS ")[0]
    for option in flag_options(row):
        if option.name not in row.rejected_options:
            assert spell(option.spec.words, flags=True).endswith((".", "...", ")")), option.name
            assert re.search(rf"{option.flag}(?![\w-])", page + section), option.flag


def sources() -> list[tuple[str, str]]:
    return [
        (path.name, path.read_text(encoding="utf-8")) for path in sorted((ROOT / "riskrank").rglob("*.py"))
    ]


def test_cited_sections_of_the_method_exist():
    cited = {number for _, text in sources() for number in re.findall(r"method §(\d+)", text)}
    cited |= {
        number for _, text in sources() for number in re.findall(r"method §\d+(?:, §| and §)(\d+)", text)
    }
    there = set(re.findall(r"^## (\d+)\. ", METHOD, flags=re.MULTILINE))
    assert len(cited) >= 5
    assert cited <= there


def test_cited_parts_of_sections_exist():
    for name, text in sources():
        for part in re.findall(r'method §\d,? \(?"([^"]+)"', text):
            assert part in METHOD, f"{name}: {part}"
        for rules in re.findall(r"method §4, rules? ([\d to]+)", text):
            for number in re.findall(r"\d", rules):
                assert f"**Rule {number}," in METHOD, name


def places(text: str) -> set[str]:
    """Return the cited places of a text in a uniform spelling: {"eq. 22", "app. F.3", "§4.2"}."""
    names = set()
    for kind, numbers in PLACE.findall(text):
        kind = kind.lower().replace("appendix", "app.").rstrip("s")
        for number in re.split(", | and | to ", numbers):
            names.add(f"{kind} {number.rstrip('.abc')}".replace("§ ", "§"))
    return names


def test_places_are_extracted_from_a_sentence():
    assert places("eq. 15 and 17 of it; App. F.3, Fig. 1a, 1b and 9. Tables 2 to 5, remark 1, eq. 22.") == {
        *("eq. 15", "eq. 17", "app. F.3", "fig. 1", "fig. 9", "table 2", "table 5", "remark 1", "eq. 22")
    }


def test_cited_places_of_papers_are_listed():
    listed = {
        paper: places(" ".join(re.findall(r"^\| ([^|]*) \|", part, flags=re.MULTILINE)))
        for paper, part in re.findall(
            r"^\*\*\[(\w+)\]\*\*(.*?)(?=^\*\*\[|\Z)", METHOD, flags=re.MULTILINE | re.DOTALL
        )
    }
    assert set(listed) == {"RAB", "GSD", "COPA"}
    cited = {
        (paper or "COPA", place)
        for _, text in sources()
        for paper, words in CITED.findall(re.sub(r"\n\s+", " ", text))
        for place in places(words.partition("method")[0])
    }
    assert {("RAB", "eq. 22"), ("RAB", "eq. 23"), ("GSD", "§4.2"), ("COPA", "eq. 9")} <= cited
    assert sorted(citation for citation in cited if citation[1] not in listed[citation[0]]) == []


def snippets() -> list[tuple[str, str]]:
    """Return all Python blocks of README and guide, by page and order."""
    return [
        (f"{page.name} {at}", code)
        for page in PAGES
        if page.name != "CONTRIBUTING.md"
        for at, code in enumerate(PYTHON.findall(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in snippets()])
def test_python_on_a_page_runs(code, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(compile(code, "page", "exec"), {"__name__": "page"})


def cells() -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(monkeypatch):
    """Run all cells in order; the value of a cell's last expression is rendered as HTML."""
    from riskrank import Result

    monkeypatch.chdir(ROOT)
    names: dict = {}
    outputs = []
    for number, code in enumerate(cells()):
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            outputs.append(eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names))
    results = [value for value in outputs if isinstance(value, Result)]
    assert len(results) >= 3
    assert all("<table" in result._repr_html_() for result in results)


def test_the_notebook_keeps_no_output():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
