"""The first screen of each command has at most 25 lines and 70 words of verdict, for any table."""

import warnings

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.render.dispatch import render

pytestmark = pytest.mark.slow

LINES, WORDS, SENTENCES = 25, 70, 3
DIAMONDS = {"metrics_file": "sample_data/diamonds.toml"}
CLASSIFIERS = {"metrics_file": "sample_data/classifiers.toml"}
FEW = {"resamples": 50, "jobs": 1}


def table(k, n=40):
    """Return models with names of usual length, and four metrics with different units."""
    rng = np.random.default_rng(k)
    base = rng.normal(size=(n, 4))
    columns = {name: [] for name in ("model", "sample", "accuracy", "latency", "passed", "quality")}
    for at in range(k):
        scores = base + 0.5 * rng.normal(size=(n, 4)) + 0.3 * at
        columns["model"] += [f"candidate-model-{at:02d}"] * n
        columns["sample"] += range(n)
        columns["accuracy"] += scores[:, 0].tolist()
        columns["latency"] += (1000 + 100 * scores[:, 1]).tolist()
        columns["passed"] += (scores[:, 2] > 0).astype(float).tolist()
        columns["quality"] += scores[:, 3].tolist()
    return rr.read(
        columns, wide=True, metric=["accuracy", "latency", "passed", "quality"], lower="latency", higher="*"
    )


def commands(scores, models):
    """Return the result of each command on one table."""
    first, last = models[0], models[-1]
    yield "rank", rr.rank(scores, **FEW)
    yield "rank, per metric", rr.rank(scores, per_metric=True, **FEW)
    yield "dominance", rr.dominance(scores, **FEW)
    yield "dominance, per metric", rr.dominance(scores, per_metric=True, **FEW)
    yield "dominance, untested", rr.dominance(scores, no_test=True)
    yield "dominance, one metric", rr.dominance(scores, metric="quality", **FEW)
    yield "mrm", rr.mrm(scores, **FEW)
    yield "mrm, per metric", rr.mrm(scores, per_metric=True, **FEW)
    yield "gate", rr.gate(scores, better=f"{last}:{first}", **FEW)
    yield "gate, many", rr.gate(scores, better=[f"{model}:{first}" for model in models[1:]], **FEW)
    yield "diff", rr.diff(scores, pair=f"{last}:{first}")
    yield "copa", rr.copa(scores)
    yield "portfolio", rr.portfolio(scores, summary=True)
    some = [*models[-9:], first] if len(models) > 10 else models  # a data set of more models takes its time
    planned = {"models": some, "pair": f"{last}:{first}", "metric": "quality"}
    yield "power", rr.power(scores, simulations=5, **planned, **FEW)


def page(result, width):
    return render(
        result.document, "table", encoding="utf-8", width=width, color=False, explain=False
    ).decode()


def assert_single_screen(name, result):
    screen = page(result, 100)
    assert len(screen.splitlines()) <= LINES, f"{name}\n{screen}"
    words = result.verdict.split()
    assert len(words) <= WORDS, f"{name}: {result.verdict}"
    # With fifty resamples a gate is undecided, which needs an additional sentence.
    besides = sum(word in result.verdict for word in ("assum", "another seed", "Nothing was tested"))
    assert result.verdict.count(". ") + 1 <= SENTENCES + besides, result.verdict
    assert "--explain" in screen, f"{name}\n{screen}"
    assert max(map(len, screen.splitlines())) <= 100, f"{name}\n{screen}"


def results(k):
    """Return the result of each command on a table of k models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(commands(table(k), [f"candidate-model-{at:02d}" for at in range(k)]))


def assert_nothing_is_cut(outputs):
    models = [f"candidate-model-{at:02d}" for at in range(10)]
    for name, result in outputs.items():
        for width in (80, 200):
            screen = page(result, width)
            visible = [model for model in models if model in "".join(screen.split())]
            assert len(visible) >= 2, f"{name}\n{screen}"
            assert "…" not in screen or "more" in screen, name
            assert max(map(len, screen.splitlines())) <= width, name


def assert_they_hold_together(outputs):
    """Assert that each model has one row with its full name, and that omitted models are named."""
    models = [f"candidate-model-{at:02d}" for at in range(10)]
    for name in ("rank", "mrm"):
        screen = page(outputs[name], 80)
        assert screen.count("───\n") == 1, f"{name}\n{screen}"
        rows = screen.split("───\n")[1].split("\n\n")[0].splitlines()
        assert sorted(model for row in rows for model in models if model in row) == models, screen


@pytest.mark.parametrize("k", [10, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 20, 40))])
def test_every_command_fits_a_screen(k):
    """With ten models nothing is omitted, and rows fit 80 columns."""
    outputs = results(k)
    for name, result in outputs.items():
        assert_single_screen(f"{name}, {k} models", result)
    if k == 10:
        assert_nothing_is_cut(outputs)
        assert_they_hold_together(outputs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"per_metric": True}, marks=pytest.mark.slow),
        {"per_metric": True, "models": ["a", "b"]},
    ],
)
def test_omitted_rows_are_counted(options):
    metrics = [f"q{at:02d}" for at in range(12)]
    scores = np.random.default_rng(0).normal(size=(12, 120)).tolist()
    table = {"model": ["a", "b", "c"] * 40, "sample": np.repeat(range(40), 3).tolist()}
    table |= dict(zip(metrics, scores, strict=True))
    for command in (rr.mrm, rr.rank, rr.dominance, *([] if options else [rr.gsd])):
        screen = command(table, wide=True, higher="*", **options, **FEW).to_text()
        assert f"… {12 - screen.count('↑')} metrics more: " in screen, screen


@pytest.mark.parametrize("kind", ["runs", "clusters", "tasks", "gaps"])
def test_any_diff_fits_a_terminal(kind):
    rng = np.random.default_rng(3)
    runs, n = (4, 40) if kind == "runs" else (1, 140)
    columns = {"model": np.repeat(["old", "new"], n * runs), "sample": [*np.repeat(range(n), runs)] * 2}
    columns |= {"run": [*range(runs)] * (2 * n), "q": rng.normal(size=2 * n * runs).round(3)}
    options = {"columns": "draw=run", "repeats": "draws"} if kind == "runs" else {}
    part = {"clusters": "cluster", "tasks": "task"}.get(kind)
    if part:
        columns[part] = [f"part {at % (40 if part == 'cluster' else 7)}" for at in columns["sample"]]
        options = {part: part}
    frame = pl.DataFrame(columns)
    if kind == "gaps":
        frame, options = frame.filter(pl.int_range(pl.len()) % 17 > 0), {"missing": "drop"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rr.diff(frame, pair="new:old", wide=True, metric="q", higher="q", **options)
    for width in (80, 100):
        lines = page(result, width).splitlines()
        assert len(lines) <= LINES, "\n".join(lines)
        assert max(map(len, lines)) <= width
    assert "Cases that got worse with new" in result.to_text()


@pytest.mark.slow
def test_sample_data_fit_a_screen():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, options in (("diamonds", DIAMONDS), ("classifiers", CLASSIFIERS)):
            scores = rr.read(f"sample_data/{path}.parquet", **options)
            for name, command in (("rank", rr.rank), ("dominance", rr.dominance), ("mrm", rr.mrm)):
                assert_single_screen(f"{name} of {path}", command(scores, **FEW))
            assert_single_screen(f"copa of {path}", rr.copa(scores))
        by_group = {"group_by": "dataset", **CLASSIFIERS, **FEW}
        assert_single_screen("groups", rr.rank("sample_data/classifiers.parquet", **by_group))
        uci = {"metrics_file": "sample_data/uci.toml", "resamples": 50}
        assert_single_screen("gsd", rr.gsd("sample_data/uci.csv", **uci))
        leaderboard = {"wide": True, "metrics_file": "sample_data/llm_leaderboard.toml"}
        assert_single_screen("copa", rr.copa("sample_data/llm_leaderboard.csv", **leaderboard))


def test_check_shows_problems_and_commands_on_a_screen():
    for name in ("diamonds.parquet", "classifiers.parquet", "uci.csv"):
        result = rr.check(f"sample_data/{name}")
        screen = page(result, 100)
        assert len(screen.splitlines()) <= LINES, screen
        assert "riskrank rank sample_data/" in screen


def test_explain_continues_the_first_screen():
    result = rr.dominance(table(3), **FEW)
    first, full = result.to_text(width=100), result.to_text(width=100, explain=True)
    assert full.startswith(first.rstrip())
    assert "ε is the violation ratio" not in first
    assert "ε is the violation ratio" in full
    # Formats of record hold everything.
    assert "ε is the violation ratio" in result.to_markdown()


def test_dominance_does_not_recommend_against_every_metric():
    """A combined score of ranks ignores the size of failures."""
    few = {"models": ["neural_net", "lda"], "resamples": 1000, "jobs": 1}
    result = rr.dominance("sample_data/classifiers.parquet", **CLASSIFIERS, **few)
    assert result.verdict.startswith(
        "No clear answer: lda is significantly ahead of neural_net on the combined score, by first-order "
        "dominance; by risk-averse second-order dominance, no test separates them, but in these samples its "
        "mean is worse on all 4 metrics."
    )


def test_a_distribution_is_better_only_without_a_crossing():
    rng = np.random.default_rng(2)
    base = rng.normal(size=300)
    often_worse = np.where(np.arange(300) < 20, -12.0, 0.6) + 0.3 * base

    def verdict(**models):
        names = [name for name in models for _ in range(300)]
        scores = np.concatenate([*models.values()]).tolist()
        columns = {"model": names, "sample": [*range(300)] * 2, "metric": ["q"] * 600, "score": scores}
        return rr.dominance(columns, higher="*", resamples=1000, jobs=1).verdict

    assert verdict(a=base + 1, b=base).startswith(
        "a is significantly ahead of b on q: it is better at every quantile. a's mean is "
    )
    crossed = verdict(safe=0.3 * base, bold=often_worse)
    assert crossed.startswith("safe is significantly ahead of bold on q")
    assert "every quantile" not in crossed
    assert "bold is better on 93 % of the samples, but safe's worst 5 % average " in crossed
