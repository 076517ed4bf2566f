"""The Python API gives the same results as the command line, from files and from frames."""

import html
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank import errors
from tests.cli.conftest import run_command

ROOT = Path(__file__).resolve().parents[1]
CLASSIFIERS = str(ROOT / "sample_data" / "classifiers.parquet")
METRICS = str(ROOT / "sample_data" / "classifiers.toml")
QUICK = {"resamples": 100, "jobs": 1}


def printed(*args: str) -> str:
    outcome = run_command(*args)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout


def long_table() -> dict[str, list]:
    rng = np.random.default_rng(0)
    rows = [(model, f"s{n}", "acc", rng.normal() + 2 * (model == "A")) for model in "ABC" for n in range(40)]
    return dict(zip(("model", "sample", "metric", "score"), map(list, zip(*rows, strict=True)), strict=True))


def test_missing_is_an_option_of_read():
    gaps = {"model": ["A", "B", "C"], "acc": [0.5, None, 0.9], "f1": [0.1, 0.2, 0.3]}
    scores = rr.read(gaps, wide=True, higher="*", missing="drop")
    assert {row.model for row in rr.copa(scores).rows} == {"A", "C"}
    assert {row.model for row in rr.copa(scores, missing="worst").rows} == {"A", "B", "C"}


def test_power_takes_a_pilot_or_distributions():
    quick = {"variance": "clt", "simulations": 5, "sizes": [20], "limit": 20, "jobs": 1}
    flags = ("--variance", "clt", "--simulations", "5", "--sizes", "20", "--limit", "20", "--set", "jobs=1")
    ours = rr.power("new=normal:1", "old=normal", **quick)
    assert ours.to_json() == printed("power", "new=normal:1", "old=normal", *flags, "--format", "json")
    assert rr.power(["new=normal:1", "old=normal"], **quick).rows == ours.rows
    pilot = rr.power(long_table(), pair="A:B", **quick)
    assert [row.metric for row in pilot.rows] == ["acc"]
    assert {"sizes", "pair", "resamples", "columns", "jobs"} <= set(inspect.signature(rr.power).parameters)
    assert "\nsizes : " in rr.power.__doc__


def test_a_wrong_table_is_checked_without_an_exception():
    table = long_table()
    table["score"][0] = float("nan")
    result = rr.check(table)
    assert isinstance(result.document.refusal, errors.InputError)
    assert "Error:" in repr(result)
    assert rr.check(rr.read(long_table()), lower="acc").rows[0].direction == "lower"


def frames():
    table = long_table()
    yield "dict", table
    yield "polars", pl.DataFrame(table)
    yield "lazy", pl.LazyFrame(table)
    for name in ("pandas", "pyarrow", "duckdb"):
        library = pytest.importorskip(name)
        if name == "pandas":
            yield name, library.DataFrame(table)
        elif name == "pyarrow":
            yield name, library.table(table)
        else:
            frame = pl.DataFrame(table)  # noqa: F841 (DuckDB finds it by its name)
            yield name, library.sql("SELECT * FROM frame")


def test_every_kind_of_frame_gives_the_same_rows(tmp_path):
    path = tmp_path / "scores.csv"
    pl.DataFrame(long_table()).write_csv(path)
    expected = rr.rank(path, **QUICK).rows
    for name, frame in frames():
        assert rr.rank(frame, **QUICK).rows == expected, name


def test_scores_are_reused_with_further_options():
    scores = rr.read(long_table())
    assert (scores.models, scores.metrics, len(scores.samples)) == (("A", "B", "C"), ("acc",), 40)
    assert "3 models, 40 samples" in repr(scores)
    assert {row.model for row in rr.rank(scores, models=["A", "B"], **QUICK).rows} == {"A", "B"}
    best = rr.rank(scores, lower="acc", **QUICK).rows
    assert best[0].model != "A"
    assert rr.rank(scores, **QUICK).rows[0].model == "A"


def test_columns_may_be_a_mapping():
    table = long_table()
    table["system"] = table.pop("model")
    assert rr.read(table, columns={"model": "system"}).models == ("A", "B", "C")


def test_several_sources_are_combined():
    table = pl.DataFrame(long_table())
    parts = [table.filter(pl.col("model") == name) for name in "ABC"]
    assert rr.rank(parts, **QUICK).rows == rr.rank(table, **QUICK).rows


def test_a_result_has_every_form():
    result = rr.dominance(long_table(), **QUICK)
    assert result.frame.columns == list(result.document.fields)
    assert result.frame.height == len(result.rows)
    assert json.loads(result.to_json())["meta"]["inputs"] == [{"path": "frame", "sha256": None, "rows": 120}]
    assert result.to_csv().splitlines()[0].startswith("metric,order")
    assert len(result.to_jsonl().splitlines()) == len(result.rows)
    assert "### Stochastic dominance on acc" in result.to_markdown()
    assert "Stochastic dominance on acc" in result.to_text(explain=True)
    assert repr(result) == result.to_text()
    assert "Stochastic dominance on acc" not in repr(result)
    assert "<table" in result._repr_html_()


def test_names_in_the_notebook_are_inert():
    table = long_table()
    table["model"] = [{"A": "<script>x</script>"}.get(name, name) for name in table["model"]]
    page = rr.rank(table, **QUICK)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_failed_gate_is_part_of_the_result():
    result = rr.gate(long_table(), better="C:A", on="ssd", **QUICK)
    assert isinstance(result.failed, errors.GateFailed)
    assert rr.gate(long_table(), better="A:C", on="ssd", jobs=1).failed is None


@pytest.mark.parametrize("name", ["rank", "dominance", "mrm"])
def test_signatures_and_docstrings_name_every_option(name):
    function = getattr(rr, name)
    parameters = inspect.signature(function).parameters
    assert {"scores", "resamples", "alpha", "columns", "jobs"} <= set(parameters)
    assert parameters["metric"].default == ()
    assert parameters["metrics_file"].default is None
    for option in ("resamples", "copula", *(() if name == "mrm" else ("order", "per_metric"))):
        assert f"\n{option} : " in function.__doc__
    assert sorted(rr.__all__) == dir(rr)


def test_import_loads_no_heavy_package():
    code = "import sys, riskrank; print([n for n in ('numpy', 'polars', 'typer') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_no_output_and_no_warnings(capfd):
    rr.rank(long_table(), **QUICK)
    assert capfd.readouterr() == ("", "")


def test_defaults_are_those_of_the_command_line():
    """An option has the same default on the command line and in Python."""
    import typer

    from riskrank.cli.main import app

    commands = typer.main.get_command(app).commands
    for name in ("rank", "dominance", "mrm", "portfolio", "gsd", "copa"):
        here = inspect.signature(getattr(rr, name)).parameters
        for option in commands[name].params:
            if option.name in here and option.name not in ("scores", "jobs"):
                default = here[option.name].default
                empty = default in (None, ()) and option.default in (None, (), [])
                assert empty or str(option.default) == str(default), (name, option.name)


@pytest.mark.slow
def test_report_stays_a_function():
    """The package with the same name must not hide it."""
    for _ in range(2):
        result = rr.report(long_table(), **QUICK)
        assert result.document.schema == "report"
    import riskrank.render.files

    assert riskrank.render.files.SUFFIXES[".html"] == "html"
    assert rr.report(long_table(), **QUICK).verdict == result.verdict
    code = (
        "import riskrank.render.numbers, riskrank as rr\n"
        "try: rr.report('nowhere.csv')\n"
        "except rr.errors.InputError as error: print(error.problem)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "nowhere.csv" in done.stdout


def leaderboard(**options) -> rr.Result:
    path = str(ROOT / "sample_data" / "llm_leaderboard")
    return rr.copa(f"{path}.csv", metrics_file=f"{path}.toml", wide=True, **options)


@pytest.mark.parametrize(
    ("build", "spelling"),
    [
        (lambda: rr.portfolio(long_table() | {"metric": ["latency"] * 120}), 'lower="latency"'),
        (lambda: rr.portfolio(long_table()), "summary=True shows one row per model"),
        (lambda: rr.check(long_table() | {"metric": ["latency"] * 120}), 'lower="latency"'),
        (lambda: rr.report(long_table(), **QUICK), None),
        (
            lambda: rr.gate(long_table(), better="B:C", margin=0.3, inconclusive="pass", seed=1),
            "inconclusive=",
        ),
        (lambda: rr.gsd(long_table(), delta=0.0, higher="*", **QUICK), None),
        (leaderboard, 'sweep="NAME"'),
        (lambda: leaderboard(compare=True), None),
        (lambda: leaderboard(sweep="co2"), None),
        (lambda: leaderboard(why=leaderboard().rows[1].model), "weight={'"),
    ],
)
@pytest.mark.usefixtures("no_pictures")
def test_python_output_contains_no_flags(build, spelling):
    """JSON has the same bytes as the command; other formats use Python spelling."""
    result = build()
    page = re.sub(r"<(style|script).*?</\1>|<[^>]*>", "", result.to_html(), flags=re.DOTALL)
    forms = [result.to_text(), result.to_markdown(), repr(result), page, result.verdict, result.to_latex()]
    for form in forms:
        # What fits a checked table are whole lines for a shell.
        words = re.sub(r"riskrank \w+ .*", "", form)
        assert not re.search(r"(?<![\w-])--[a-z]", words), re.search(r".*(?<![\w-])--[a-z].*", words)
        assert not re.search("[\ue000-\ue005]", form)
    text = html.unescape(" ".join(f"{result.to_text()} {page}".split()))
    assert spelling is None or spelling in text


def test_unknown_command_is_refused():
    from riskrank.render.schema import document_classes

    with pytest.raises(errors.UsageError, match="unknown command or document 'rnak'") as caught:
        document_classes("rnak")
    assert caught.value.hint == "did you mean rank?"


def test_result_is_refused_as_input_but_its_frame_is_not():
    scores = rr.portfolio(long_table())
    with pytest.raises(errors.UsageError, match=r"pass its frame: result\.frame"):
        rr.rank(scores)
    assert rr.rank(scores.frame, **QUICK).rows
    with pytest.raises(errors.UsageError, match="found: a Scores"):
        rr.read([rr.read(long_table())])


def test_numpy_values_and_numeric_names_are_accepted():
    """NumPy numbers, numeric names, and single values in place of several."""
    plain = rr.dominance(long_table(), resamples=100, threshold=[0.25], seed=3, alpha=0.1, jobs=1)
    numpy = rr.dominance(
        long_table(),
        resamples=np.int64(100),
        threshold=np.float64(0.25),
        seed=np.uint8(3),
        alpha=np.float64(0.1),
        no_test=np.False_,
        jobs=np.int64(1),
    )
    assert numpy.to_json() == plain.to_json()
    numbered = long_table()
    numbered["model"] = ["ABC".index(name) for name in numbered["model"]]
    assert rr.read(numbered, models=[0, np.int64(2)]).models == ("0", "2")
    assert rr.gsd(long_table(), higher="acc", digits=np.int64(2), **QUICK).rows


@pytest.mark.parametrize("weight", ["acc=3", ["acc=3"], {"acc": 3}, {"acc": np.float32(3)}])
def test_weights_are_accepted_as_text_and_mapping(weight):
    table = rr.read(long_table(), weight=weight).table()
    assert [metric.weight for metric in table.metrics] == [3.0]


@pytest.mark.slow  # starts the program
def test_only_pages_and_pictures_need_extras():
    """Simulate an installation without extras, in which their packages cannot be imported."""
    code = f"""
import sys
absent = ["matplotlib", "jinja2", "markupsafe", "openpyxl", "duckdb", "s3fs", "distributed"]
sys.modules.update(dict.fromkeys(absent))
import riskrank as rr
result = rr.rank({CLASSIFIERS!r}, metrics_file={METRICS!r}, models=["lda", "logistic"], no_test=True)
assert result.to_text() and result.to_json() and result._repr_html_()
for ask in (result.to_html, result.plot):
    try:
        ask()
    except rr.errors.UsageError as error:
        print(error.hint)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "pip install 'riskrank[report]'\npip install 'riskrank[plot]'\n"
