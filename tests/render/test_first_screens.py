"""The first screen of every command: at most 25 lines and 70 words of verdict, whatever the table."""

import warnings

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.render.dispatch import render

LINES, WORDS, SENTENCES = 25, 70, 3
DIAMONDS = {"metrics_file": "sample_data/diamonds.toml"}
CLASSIFIERS = {"metrics_file": "sample_data/classifiers.toml"}
FEW = {"resamples": 50, "jobs": 1}


def table(k, n=40):
    """Models of names of a usual length, four metrics of different units, one of them 0/1 and one a cost."""
    rng = np.random.default_rng(k)
    base = rng.normal(size=(n, 4))
    found = {name: [] for name in ("model", "sample", "accuracy", "latency", "passed", "quality")}
    for at in range(k):
        scores = base + 0.5 * rng.normal(size=(n, 4)) + 0.3 * at
        found["model"] += [f"candidate-model-{at:02d}"] * n
        found["sample"] += range(n)
        found["accuracy"] += scores[:, 0].tolist()
        found["latency"] += (1000 + 100 * scores[:, 1]).tolist()
        found["passed"] += (scores[:, 2] > 0).astype(float).tolist()
        found["quality"] += scores[:, 3].tolist()
    return rr.read(
        found, wide=True, metric=["accuracy", "latency", "passed", "quality"], lower="latency", higher="*"
    )


def commands(scores, models):
    """Every command's result on one table."""
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
    yield "gate, many", rr.gate(scores, better=[f"{one}:{first}" for one in models[1:]], **FEW)
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


def assert_one_screen(name, result):
    shown = page(result, 100)
    assert len(shown.splitlines()) <= LINES, f"{name}\n{shown}"
    words = result.verdict.split()
    assert len(words) <= WORDS, f"{name}: {result.verdict}"
    # Fifty resamples leave a gate in doubt, which takes a sentence of its own.
    besides = sum(word in result.verdict for word in ("assum", "another seed", "Nothing was tested"))
    assert result.verdict.count(". ") + 1 <= SENTENCES + besides, result.verdict
    assert "--explain" in shown, f"{name}\n{shown}"
    assert max(map(len, shown.splitlines())) <= 100, f"{name}\n{shown}"


def results(k):
    """Every command's result on the table of so many models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(commands(table(k), [f"candidate-model-{at:02d}" for at in range(k)]))


def assert_nothing_is_cut(found):
    models = [f"candidate-model-{at:02d}" for at in range(10)]
    for name, result in found.items():
        for width in (80, 200):
            shown = page(result, width)
            told = [one for one in models if one in "".join(shown.split())]
            assert len(told) >= 2, f"{name}\n{shown}"
            assert "…" not in shown or "more" in shown, name
            assert max(map(len, shown.splitlines())) <= width, name


def assert_they_hold_together(found):
    """Each model stands in one row, its name whole; what there is no room for is named."""
    models = [f"candidate-model-{at:02d}" for at in range(10)]
    for name in ("rank", "mrm"):
        shown = page(found[name], 80)
        assert shown.count("───\n") == 1, f"{name}\n{shown}"
        rows = shown.split("───\n")[1].split("\n\n")[0].splitlines()
        assert sorted(model for row in rows for model in models if model in row) == models, shown


@pytest.mark.parametrize("k", [2, 10, *(pytest.param(k, marks=pytest.mark.slow) for k in (20, 40))])
def test_every_command_answers_on_one_screen(k):
    """Of ten models nothing is cut, and they hold together at 80 columns."""
    found = results(k)
    for name, result in found.items():
        assert_one_screen(f"{name}, {k} models", result)
    if k == 10:
        assert_nothing_is_cut(found)
        assert_they_hold_together(found)


@pytest.mark.parametrize("asked", [{}, {"per_metric": True}, {"per_metric": True, "models": ["a", "b"]}])
def test_what_a_screen_has_no_room_for_is_counted(asked):
    metrics = [f"q{at:02d}" for at in range(12)]
    scores = np.random.default_rng(0).normal(size=(12, 120)).tolist()
    table = {"model": ["a", "b", "c"] * 40, "sample": np.repeat(range(40), 3).tolist()}
    table |= dict(zip(metrics, scores, strict=True))
    for command in (rr.mrm, rr.rank, rr.dominance, *([] if asked else [rr.gsd])):
        shown = command(table, wide=True, higher="*", **asked, **FEW).to_text()
        assert f"… {12 - shown.count('↑')} metrics more: " in shown, shown


@pytest.mark.parametrize("kind", ["runs", "clusters", "tasks", "gaps"])
def test_a_diff_fits_a_terminal_whatever_there_is_to_say(kind):
    rng = np.random.default_rng(3)
    runs, n = (4, 40) if kind == "runs" else (1, 140)
    found = {"model": np.repeat(["old", "new"], n * runs), "sample": [*np.repeat(range(n), runs)] * 2}
    found |= {"run": [*range(runs)] * (2 * n), "q": rng.normal(size=2 * n * runs).round(3)}
    options = {"columns": "draw=run", "repeats": "draws"} if kind == "runs" else {}
    part = {"clusters": "cluster", "tasks": "task"}.get(kind)
    if part:
        found[part] = [f"part {at % (40 if part == 'cluster' else 7)}" for at in found["sample"]]
        options = {part: part}
    frame = pl.DataFrame(found)
    if kind == "gaps":
        frame, options = frame.filter(pl.int_range(pl.len()) % 17 > 0), {"missing": "drop"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rr.diff(frame, pair="new:old", wide=True, metric="q", higher="q", **options)
    for width in (80, 100):
        shown = page(result, width).splitlines()
        assert len(shown) <= LINES, "\n".join(shown)
        assert max(map(len, shown)) <= width
    assert "Cases that new lost" in result.to_text()


@pytest.mark.slow
def test_sample_data_is_answered_on_one_screen():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, options in (("diamonds", DIAMONDS), ("classifiers", CLASSIFIERS)):
            scores = rr.read(f"sample_data/{path}.parquet", **options)
            for name, command in (("rank", rr.rank), ("dominance", rr.dominance), ("mrm", rr.mrm)):
                assert_one_screen(f"{name} of {path}", command(scores, **FEW))
            assert_one_screen(f"copa of {path}", rr.copa(scores))
        by_group = {"group_by": "dataset", **CLASSIFIERS, **FEW}
        assert_one_screen("groups", rr.rank("sample_data/classifiers.parquet", **by_group))
        uci = {"metrics_file": "sample_data/uci.toml", "resamples": 50}
        assert_one_screen("gsd", rr.gsd("sample_data/uci.csv", **uci))
        leaderboard = {"wide": True, "metrics_file": "sample_data/llm_leaderboard.toml"}
        assert_one_screen("copa", rr.copa("sample_data/llm_leaderboard.csv", **leaderboard))


def test_check_names_what_is_wrong_and_commands_on_one_screen():
    for name in ("diamonds.parquet", "classifiers.parquet", "uci.csv"):
        found = rr.check(f"sample_data/{name}")
        shown = page(found, 100)
        assert len(shown.splitlines()) <= LINES, shown
        assert "riskrank rank sample_data/" in shown


def test_explain_goes_on_where_the_first_screen_ends():
    result = rr.dominance(table(3), **FEW)
    first, whole = result.to_text(width=100), result.to_text(width=100, explain=True)
    assert whole.startswith(first.rstrip())
    assert "ε is the violation ratio" not in first
    assert "ε is the violation ratio" in whole
    # Formats of record hold everything.
    assert "ε is the violation ratio" in result.to_markdown()


def test_dominance_does_not_recommend_against_every_metric():
    """A combined score of ranks forgets how bad a bad score is."""
    few = {"models": ["neural_net", "lda"], "resamples": 1000, "jobs": 1}
    result = rr.dominance("sample_data/classifiers.parquet", **CLASSIFIERS, **few)
    assert result.verdict.startswith(
        "No clear answer: lda is significantly ahead of neural_net on the combined score, but in these "
        "samples its mean is worse on all 4 metrics."
    )


def test_the_whole_distribution_is_better_only_without_a_crossing():
    rng = np.random.default_rng(2)
    base = rng.normal(size=300)
    often_worse = np.where(np.arange(300) < 20, -12.0, 0.6) + 0.3 * base

    def verdict(**models):
        names = [name for name in models for _ in range(300)]
        scores = np.concatenate([*models.values()]).tolist()
        given = {"model": names, "sample": [*range(300)] * 2, "metric": ["q"] * 600, "score": scores}
        return rr.dominance(given, higher="*", resamples=1000, jobs=1).verdict

    assert verdict(a=base + 1, b=base).startswith(
        "a is significantly ahead of b on q: its whole distribution is better. a's mean is "
    )
    crossed = verdict(safe=0.3 * base, bold=often_worse)
    assert crossed.startswith("safe is significantly ahead of bold on q")
    assert "whole distribution" not in crossed
    assert "On 93 % of the samples bold is better, but safe's worst 5 % average " in crossed
