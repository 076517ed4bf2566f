"""Build the site from docs/: ``make docs``.

The pages are those of the repository, as they are read there. The site adds an order, a search that needs no
server, and, below each command's page, all of its options, made from the commands themselves. A link that
leads nowhere ends the build.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Pages of the repository that are no part of docs/.
OUTSIDE = ("CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md")

# The order of the site: title, pages with their titles.
ORDER = (
    ("Start", {"tutorial": "Ten minutes", "reading-files": "Your own files"}),
    (
        "How to",
        {
            "compare-prompts": "Compare two prompts",
            "which-claim": "Which claim do I need?",
            "pull-request": "Gate a pull request",
            "budget": "Choose under a budget",
            "cross-validation": "Compare learners by cross-validation",
            "time-series": "Compare forecasts",
            "year-of-runs": "Follow a year of runs",
            "ci": "Run in continuous integration",
            "year-in-ci": "A year in CI",
            "suites": "Rank on a suite of tasks",
            "judge": "Calibrate a judge on labels",
            "costs": "Weigh quality against costs",
            "noise": "Account for noise sources",
            "python": "Work from Python and notebooks",
            "pictures": "Draw pictures",
            "scale": "Read large tables",
            "machine": "Set options of the machine",
        },
    ),
    ("Commands", {}),
    ("Background", {"glossary": "Glossary", "method": "The method", "calibration": "Calibration"}),
    (
        "Project",
        {
            "skill/SKILL": "A skill for programs",
            "CHANGELOG": "Changes",
            "CONTRIBUTING": "Contributing",
            "SECURITY": "Security",
        },
    ),
)

SETTINGS = {
    "project": "riskrank",
    "author": "the riskrank authors",
    "extensions": ["myst_parser"],
    "html_theme": "furo",
    "html_title": "riskrank",
    # Neither the sources nor who made the site: pages alone.
    "html_copy_source": False,
    "html_extra_path": ["as-it-is"],
    "html_static_path": ["looks"],
    "html_css_files": ["words.css"],
    "html_use_index": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "myst_heading_anchors": 4,
    "myst_enable_extensions": ["deflist"],
    # Words keep their quotes and dashes: options are written with two.
    "smartquotes": False,
}

# A browser would end a line between the dashes of an option and its name. Screens are 100 columns wide: where
# there is room for them beside the contents of the site and, from 82em on, those of the page.
STYLE = """\
code .pre { white-space: nowrap; }
@media (min-width: 73em) and (max-width: 81.9em), (min-width: 88em) {
  .content { width: 53em; padding: 0 2em; }
  .sidebar-drawer { width: max(15em, calc(50% - 36em)); }
}
"""


# What the search asks for, it is given: as text in the one element that it looks into.
EXCERPTS = """\
"use strict";
(function () {
  const pages = PAGES, asked = window.fetch;
  window.fetch = function (address) {
    const name = decodeURI(new URL(address, document.baseURI).pathname);
    const found = Object.keys(pages).find(page => name.endsWith("/" + page));
    if (!found) { return asked.apply(window, arguments); }
    const main = document.createElement("div");
    main.setAttribute("role", "main");
    main.textContent = pages[found];
    return Promise.resolve(new Response(main.outerHTML));
  };
})();
"""


def manual():
    """What writes the man page: it knows all options."""
    spec = importlib.util.spec_from_file_location("manual", ROOT / "tests" / "manual.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def moved(text: str) -> str:
    """Links and pictures of a page, from the one folder in which the site holds all pages."""
    return re.sub(r'(\]\(|src(?:set)?=")(?:\.\./|docs/)', r"\1", text)


def reference(name: str) -> str:
    """All options of a command, as they are listed by --help-all."""
    options = manual().options
    if name != "convert":
        return "\n## All options\n\n" + _listed(options(name))
    parts = (("verdicts", "of verdicts"), ("auto", "of an export"))
    return "".join(f"\n## All options {words}\n\n{_listed(options(name, part))}" for part, words in parts)


def _listed(options: list[tuple[str, str]]) -> str:
    return "\n".join(f"`{head}`\n: {_escaped(' '.join(words.split()))}\n" for head, words in options)


def _escaped(words: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", words)


def contents(commands: list[str]) -> str:
    """The order of all pages, which the first of them holds."""
    blocks = []
    for caption, pages in ORDER:
        named = pages or {name: name for name in commands}
        lines = "\n".join(f"{title} <{page}>" for page, title in named.items())
        blocks.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n")
    return "".join(blocks)


def stage(folder: Path) -> None:
    """Lay all pages into one folder."""
    from riskrank.options.commands import BY_NAME

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in OUTSIDE)]:
        text = moved(path.read_text(encoding="utf-8"))
        text += reference(path.stem) if path.stem in BY_NAME else ""
        (folder / path.name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "skill", folder / "skill")
    for path in (ROOT / "docs").glob("*.ipynb"):
        shutil.copy(path, folder)
    # Copied as they are: pages name them in HTML, which no builder follows.
    shutil.copytree(ROOT / "docs" / "figures", folder / "as-it-is" / "figures")
    (folder / "looks").mkdir()
    (folder / "looks" / "words.css").write_text(STYLE, encoding="utf-8")
    readme = moved((ROOT / "README.md").read_text(encoding="utf-8"))
    (folder / "index.md").write_text(readme + contents(list(BY_NAME)), encoding="utf-8")


class Words(HTMLParser):
    """The words of a page's text, without menus."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.inside, self.words = 0, []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Count how deep within the text it is."""
        self.inside += tag == "article"

    def handle_endtag(self, tag: str) -> None:
        """Leave the text where it ends."""
        self.inside -= tag == "article"

    def handle_data(self, data: str) -> None:
        """Keep what stands in it."""
        if self.inside > 0 and data != "#":
            self.words.append(data)


def with_excerpts(site: Path) -> None:
    """Let the search show what it found: a page that was opened as a file may load no other page.

    Its script asks for the whole of each; it is given the words, which one more script holds.
    """
    pages = {}
    for path in sorted(site.rglob("*.html")):
        words = " ".join(" ".join(Words(path.read_text(encoding="utf-8")).words).split())
        if words:
            pages[path.relative_to(site).as_posix()] = words
    script = site / "_static" / "excerpts.js"
    script.write_text(EXCERPTS.replace("PAGES", json.dumps(pages, sort_keys=True)), encoding="utf-8")
    search = site / "search.html"
    text = search.read_text(encoding="utf-8")
    before = re.search(r'<script src="_static/searchtools\.js', text)
    assert before, "the search is another one"
    tag = '<script src="_static/excerpts.js"></script>\n    '
    search.write_text(text[: before.start()] + tag + text[before.start() :], encoding="utf-8")


def build(sources: Path, site: Path) -> int:
    """Build the site of a folder of pages; returns the status, which no broken link leaves at 0."""
    from sphinx.application import Sphinx

    from riskrank import __version__

    shutil.rmtree(site, ignore_errors=True)
    application = Sphinx(
        srcdir=sources,
        confdir=None,
        outdir=site,
        doctreedir=sources / ".doctrees",
        buildername="html",
        confoverrides=SETTINGS | {"release": __version__, "version": __version__},
        status=None,
        freshenv=True,
        warningiserror=True,
    )
    application.build(force_all=True)
    if application.statuscode == 0 and (site / "search.html").is_file():
        with_excerpts(site)
    return int(application.statuscode)


def main() -> int:
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    sources = site.with_name(f"{site.name}-sources")
    sys.path.insert(0, str(ROOT))
    stage(sources)
    status = build(sources, site)
    if status == 0:
        print(f"{site / 'index.html'}: {len([*site.glob('*.html')])} pages, to open in a browser")
    return status


if __name__ == "__main__":
    sys.exit(main())
