"""The site contains each page of the guide, its links are valid, and nothing is loaded from elsewhere."""

import importlib.util
import re
import subprocess
import sys
import time
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from riskrank.api import read
from riskrank.options.commands import BY_NAME as COMMANDS
from tests.page import chromium

ROOT = Path(__file__).resolve().parents[1]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


def the_builder():
    spec = importlib.util.spec_from_file_location("website", ROOT / ".ci" / "website.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Page(HTMLParser):
    """Parser that collects links, resources and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.names.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        of_the_site = values.get("href", "").startswith("#")  # a link that names a page, and loads nothing
        if tag in LOADED and values.get(LOADED[tag]) and not of_the_site:
            self.loads.append(values[LOADED[tag]])


page = cache(Page)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not all(importlib.util.find_spec(name) for name in ("sphinx", "furo", "myst_parser")):
        pytest.skip("make docs installs what is needed")
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, ROOT / ".ci" / "website.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.mark.slow
def test_every_page_exists_with_its_options(site):
    sources = {path.stem for path in (ROOT / "docs").glob("*.md")} | {"CHANGELOG", "SECURITY", "CONTRIBUTING"}
    assert sources <= {path.stem for path in site.glob("*.html")}
    front = page(site / "index.html").links
    assert sorted(name for name in sources if f"{name}.html" not in front) == []
    for name in COMMANDS:
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert "All options" in text
        assert "--set" in text


@pytest.mark.slow
def test_links_of_the_site_resolve(site):
    broken, checked = [], 0
    for path in sorted(site.glob("*.html")):
        for link in page(path).links:
            if link.startswith(("http://", "https://", "mailto:")):
                continue
            checked += 1
            file, _, anchor = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.is_file() or (anchor and anchor not in page(target).names):
                broken.append(f"{path.name}: {link}")
    assert broken == []
    assert checked > 1000


@pytest.mark.slow
def test_the_site_needs_no_network_and_no_server(site):
    for path in site.glob("*.html"):
        for file in page(path).loads:
            assert "//" not in file, f"{path.name} loads {file}"
            assert (site / file.partition("?")[0]).is_file(), f"{path.name} loads {file}"
    for path in site.rglob("*.css"):
        assert "url(http" not in path.read_text(encoding="utf-8").replace('"', ""), path.name
    # The search index is a script, because pages opened as files may load scripts.
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert '"tutorial"' in index


@pytest.mark.slow
@pytest.mark.skipif(chromium.find_browser() is None, reason="no Chromium")
def test_search_works_without_a_server(site):
    ask = "Array.from(document.querySelectorAll('#search-results li'), one => one.textContent)"
    wait = "new Promise(done => setTimeout(done, 100))"
    with chromium.Chromium() as browser:
        browser.open(site / "search.html", query="violation ratio")
        deadline = time.monotonic() + 60
        while not (hits := browser.run(ask)) or "searching" in hits[-1] or len(hits) < 5:
            assert time.monotonic() < deadline, hits
            browser.run(wait)
        assert any("squared distance between two distributions" in hit for hit in hits), hits


@pytest.mark.slow
def test_options_are_not_broken_across_lines(site):
    for path in site.glob("*.html"):
        styles = [
            file.partition("?")[0] for file in page(path).loads if file.partition("?")[0].endswith(".css")
        ]
        assert any("code .pre {" in (site / file).read_text(encoding="utf-8") for file in styles), path.name


@pytest.mark.slow
@pytest.mark.parametrize("link", ["nowhere.md", "#nowhere"])
def test_broken_link_fails_the_build(site, tmp_path, link):
    sources = tmp_path / "pages"
    sources.mkdir()
    (sources / "index.md").write_text(f"# riskrank\n\n[away]({link})\n")
    code = (
        "import pathlib, runpy, sys; sources, site = map(pathlib.Path, sys.argv[2:])\n"
        "sys.exit(runpy.run_path(sys.argv[1])['build'](sources, site))"
    )
    command = [sys.executable, "-c", code, ROOT / ".ci" / "website.py", sources, tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "nowhere" in done.stderr


def test_links_are_moved_into_a_single_folder():
    moved = the_builder().moved
    assert moved("[a](docs/rank.md#x) [b](../SECURITY.md) [c](gate.md)") == (
        "[a](rank.md#x) [b](SECURITY.md) [c](gate.md)"
    )


def test_every_page_is_in_the_navigation():
    """The build also refuses pages that are missing in the navigation."""
    placed = {name for _, pages in the_builder().ORDER for name in pages} | set(COMMANDS)
    assert placed >= {path.stem for path in (ROOT / "docs").glob("*.md")}


# Pages about one model over time, the others compare two.
YEARS = ("year-of-runs", "year-in-ci")
JOBS = ("compare-prompts", "pull-request", "budget", "cross-validation", "time-series", *YEARS)
# Number of words that take three minutes to read.
THREE_MINUTES = 660


@pytest.mark.parametrize("job", JOBS)
def test_a_job_has_a_table_to_copy_and_is_read_in_three_minutes(job, tmp_path):
    text = (ROOT / "docs" / f"{job}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    table = next(content for kind, content in blocks if kind == "text")
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    scores = read(tmp_path / "scores.csv", higher="*")
    assert len(scores.models) == 1 + (job not in YEARS)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len(prose.split()) <= THREE_MINUTES
