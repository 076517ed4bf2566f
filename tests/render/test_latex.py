"""LaTeX tables: escaped, one float per table, significance letters; compiled if TeX is installed."""

import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.api import dominance, gate, rank, read
from riskrank.engine.dominance.tests import letter_groups
from riskrank.render.escapes import escape_for_latex
from riskrank.render.formats.latex import to_latex
from riskrank.render.view import Cell, Column, Line, Table

HOSTILE = (
    "a_b & c % $x^2$ #1 {\\bf b} ~",
    "\\input{/etc/passwd}",
    "[starts] *",
    "\\write18{true} -- ,, ?` <<|>>",
    "plain",
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b & 50 %", r"a\_b \& 50 \%"),
        ("\\x{y}", r"\textbackslash{}x\{y\}"),
        ("a--b,,c", "a-{}-b,{},c"),
        ("[a]*", "{[}a]{*}"),
        ("ε ≤ ∞", r"$\varepsilon$ $\leq$ $\infty$"),
        ("a\x1b\nb", r"a\textbackslash{}x1b b"),
        ("R-SSD@P(IC)", "R-SSD@P(IC)"),
    ],
)
def test_escapes(text, written):
    assert escape_for_latex(text) == written


@pytest.mark.slow
@given(st.text(max_size=30))
def test_no_mark_of_latex_is_left_alone(text):
    """Braces are balanced for any name, and only our own commands occur."""
    written = escape_for_latex(text)
    allowed = r"\\(?:text[a-z]+\{\}|ldots\{\}|varepsilon|[%$#&_{}])|\$\\?[a-zA-Z]+\$|\$[-^]2?\$|``|''"
    remaining = re.sub(allowed, "", written)
    assert not re.search(r"[\\%$#&_~^]", remaining)
    assert remaining.count("{") == remaining.count("}")


def test_a_table():
    columns = (Column("model", "left"), Column("mean"), Column("bar", "left", medium="terminal"))
    table = Table(
        "A_b", (*columns, Column("l", medium="latex")), ((Cell("m", "bold"), "-1 to -2", "─", "ab"),)
    )
    assert to_latex([table, Line("100 %", "Data:")]).splitlines()[4:] == [
        r"\begin{table}",
        r"  \centering",
        r"  \caption{A\_b}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        r"  \begin{tabular}{@{}lrr@{}}",
        r"    \toprule",
        r"    model & mean & l \\",
        r"    \midrule",
        r"    \textbf{m} & $-$1 to $-$2 & ab \\",
        r"    \bottomrule",
        r"  \end{tabular}}",
        r"\end{table}",
        "",
        r"{\sloppy\noindent \textbf{Data:} 100 \%\par}",
    ]


def test_long_tables_go_on_over_pages():
    rows = tuple((f"m{row}", "1") for row in range(41))
    columns = (Column("model", "left"), Column("the\nplace"))
    text = to_latex([Table("T", columns, rows)])
    assert "\\begin{longtable}" in text
    assert text.count("\\shortstack[r]{the\\\\place}") == 2
    assert "\\begin{longtable}" not in to_latex([Table("T", columns, rows[:40])])


@given(st.integers(1, 8), st.integers(0, 10**6), st.floats(0, 1))
def test_models_share_a_letter_exactly_if_nothing_separates_them(k, seed, share):
    rng = np.random.default_rng(seed)
    separated = np.triu(rng.random((k, k)) < share, 1)
    separated |= separated.T
    order = rng.permutation(k).tolist()
    groups = letter_groups(separated, order)
    for i, j in itertools.combinations(range(k), 2):
        assert any(i in group and j in group for group in groups) != separated[i, j]
    assert {model for group in groups for model in group} == set(range(k))
    first = [order.index(group[0]) for group in groups]
    assert first == sorted(first)


def scores(names, n=30):
    rng = np.random.default_rng(0)
    rows = [(name, s, place) for place, name in enumerate(names) for s in range(n)]
    return {
        "model": [name for name, _, _ in rows],
        "sample": [s for _, s, _ in rows],
        "acc_%": [float(rng.normal() - 0.4 * place) for _, _, place in rows],
    }


def results():
    table = read(scores(HOSTILE), wide=True, higher="*")
    many = read(scores([f"a_model_of_20_char_{k:x}" for k in range(12)]), wide=True, higher="*")
    options = {"resamples": 100, "jobs": 1}
    claims = {"not_worse": f"{HOSTILE[0]}:plain"}
    return [
        rank(table, **options),
        dominance(table, **options),
        gate(table, **options, **claims),
        dominance(many, **options),
        rank(many, **options),
    ]


def test_letters_of_a_ranking():
    text = results()[0].to_latex()
    assert "& letters" in text
    assert "●" not in text
    assert text.count("\\begin{table}") == text.count("\\bottomrule") == 3
    assert text.startswith("% \\usepackage{booktabs,graphicx,iftex,longtable}\n% \\iftutex ")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX")
def test_it_compiles(tmp_path):
    body = "\n\\clearpage\n".join(result.to_latex() for result in results())
    preamble = "\n".join(line.removeprefix("% ") for line in body.splitlines()[:2])
    head = f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}"
    (tmp_path / "page.tex").write_text(f"{head}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "too large" not in done.stdout
    assert (tmp_path / "page.pdf").stat().st_size > 10_000
