"""``gate --baseline`` and ``--bless``: new scores are compared with a file of accepted scores."""

import json

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.scores.table.baseline import read_baseline

CLAIM = ("--not-worse", "new:baseline", "--margin", "0.1")
FEW = ("--resamples", "400", "--set", "jobs=1")


def scores(model="v2", *, n=100, share=0.8, seed=1, metrics=("acc",), start=0, tasks=None, runs=1):
    """Return binary scores of one model."""
    rng = np.random.default_rng(seed)
    rows = [
        (model, f"{at + start}", task, metric, run, float(rng.random() < share))
        for task in tasks or (None,)
        for at in range(n)
        for metric in metrics
        for run in range(runs)
    ]
    names = ["model", "sample", "task", "metric", "draw", "score"]
    left_out = [*([] if tasks else ["task"]), *([] if runs > 1 else ["draw"])]
    return pl.DataFrame(rows, schema=names, orient="row").drop(left_out)


@pytest.fixture
def bless(run, write, tmp_path):
    """Accept the scores of a table as the baseline and return its path."""

    def blessed(table, *options, name="kept.parquet"):
        path = str(tmp_path / name)
        outcome = run("gate", write("old.csv", table), *options, "--bless", path)
        assert outcome.status == 0, outcome.stderr
        assert outcome.stderr.startswith(f"wrote {path}: ")
        assert outcome.stdout == ""
        return path

    return blessed


def rows_of(outcome):
    assert outcome.status in (0, 1, 4), outcome.stderr
    return outcome.document["results"]


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({}, ()),
        ({"metrics": ("acc", "f1")}, ()),
        ({"tasks": ("a", "b")}, ("--on", "macro", "--on", "task")),
        ({"tasks": ("a+b", "a\\")}, ("--on", "macro")),
        ({"tasks": ("a", "b")}, ("--task", "none")),
        ({"runs": 3, "metrics": ("acc", "f1")}, ("--repeats", "draws", "--on", "mean", "--on", "pass^2:acc")),
        ({"runs": 3}, ("--repeats", "mean")),
    ],
)
def test_the_answers_are_those_of_the_two_files(run, write, bless, changes, options):
    """The results are bit-identical: a baseline is the old file under another name."""
    old, new = scores("v1", seed=2, **changes), scores(**changes)
    reading = options[:2] if options[:1] in (("--task",), ("--repeats",)) else ()
    path, new_path = bless(old, *reading), write("new.csv", new)
    both = run(
        *("gate", f"new={new_path}", f"baseline={write('old.csv', old)}", *CLAIM, *options, *FEW),
        *("--format", "json"),
    )
    blessed = run("gate", f"new={new_path}", "--baseline", path, *CLAIM, *options, *FEW, "--format", "json")
    assert rows_of(blessed) == rows_of(both)
    assert blessed.document["meta"]["baseline"]["model"] == "v1"
    assert "baseline" not in both.document["meta"]
    samples = 100 * len(changes.get("tasks") or "1")
    counts = {"samples": samples, "common": samples, "missing": 0, "added": 0}
    assert blessed.document["meta"]["baseline"].items() >= counts.items()


def test_a_wide_table_against_a_long_baseline(run, write, bless):
    old, new = scores("v1", seed=2, metrics=("acc", "f1")), scores(metrics=("acc", "f1"))
    path = bless(old)
    long = run(
        *("gate", f"new={write('n.csv', new)}", "--baseline", path, *CLAIM, *FEW), *("--format", "json")
    )
    wide = write("w.csv", new.pivot("metric", index=["model", "sample"], values="score"))
    result = run("gate", f"new={wide}", "--wide", "--baseline", path, *CLAIM, *FEW, "--format", "json")
    assert rows_of(result) == rows_of(long)
    blessed = bless(
        old.pivot("metric", index=["model", "sample"], values="score"), "--wide", name="wide.parquet"
    )
    reblessed = run("gate", f"new={wide}", "--wide", "--baseline", blessed, *CLAIM, *FEW, "--format", "json")
    assert rows_of(reblessed) == rows_of(long)


def test_groups_and_clusters_are_those_of_the_new_scores(run, write, bless):
    place = pl.col("sample").cast(pl.Int64)
    parts = {"lang": (place % 2).cast(pl.String), "doc": (place // 3).cast(pl.String)}
    old, new = scores("v1", seed=2), scores().with_columns(**parts)
    options = ("--group-by", "lang", "--cluster", "doc", *CLAIM, *FEW, "--format", "json")
    argument = f"new={write('new.csv', new)}"
    blessed = run("gate", argument, "--baseline", bless(old), *options)
    both = run("gate", argument, f"baseline={write('both.csv', old.with_columns(**parts))}", *options)
    assert rows_of(blessed) == rows_of(both)
    assert {row["group"] for row in rows_of(blessed)} == {None, "0", "1"}


def test_a_baseline_has_metadata(bless):
    table = scores("v1", metrics=("acc", "latency"), tasks=("a", "b"))
    path = bless(table, "--lower", "latency")
    metadata = json.loads(pl.read_parquet_metadata(path)["riskrank"])
    assert metadata["schema"] == "riskrank/baseline"
    assert (metadata["model"], metadata["samples"], metadata["sample_column"]) == ("v1", 200, "sample")
    assert metadata["metrics"]["latency"] == {"direction": "lower", "transform": "none", "bounds": None}
    assert metadata["metrics"]["acc"]["direction"] is None
    frame = pl.read_parquet(path)
    assert frame.columns == ["model", "sample", "task", "metric", "score", "direction"]
    key = ["task", "sample", "metric"]
    assert frame.select(*key, "score").sort(key).equals(table.select(*key, "score").sort(key))


def test_no_order_of_rows_changes_a_byte(run, write, bless):
    table = scores("v1", tasks=("a", "b"))
    paths = [
        bless(rows, name=name)
        for rows, name in (
            (table, "1.parquet"),
            (table.sample(fraction=1, shuffle=True, seed=3), "2.parquet"),
        )
    ]
    first, second = (pl.read_parquet(path) for path in paths)
    assert first.equals(second)


def test_directions_and_bounds_are_stored(run, write, bless):
    """Metric declarations are stored with the baseline and may not be changed."""
    metrics = write("metrics.toml", '[latency]\ndirection = "lower"\nbounds = [0, 1]\n')
    path = bless(scores("v1", metrics=("latency",), share=0.8), "--metrics-file", metrics)
    argument = f"new={write('new.csv', scores(metrics=('latency',), share=0.2))}"
    better = ("--better", "new:baseline", *FEW, "--format", "json")
    outcome = run("gate", argument, "--baseline", path, *better, "--anytime")
    (row,) = rows_of(outcome)
    assert (outcome.status, row["direction"]) == (0, "lower")
    assert outcome.document["meta"]["metrics"][0]["bounds"] == [0, 1]


def test_another_filter_of_an_export_counts_other_scores(messages_of, run, write, tmp_path):
    """Two filters give different scores for the same samples and metric, which is easily overlooked."""

    def lines(model, strict):
        for at in range(20):
            for name, score in (("strict", strict), ("loose", 1)):
                record = {"doc_id": at, "filter": name, "metrics": ["exact_match"], "exact_match": score}
                yield json.dumps({"doc": {}, "target": "", "arguments": [], "resps": [], **record})

    for model, strict in (("old", 1), ("new", 0)):
        folder = tmp_path / model / "a-model"
        folder.mkdir(parents=True)
        name = "samples_sums_2026-01-01T00-00-00.000000.jsonl"
        (folder / name).write_text("\n".join(lines(model, strict)))
    path, read = str(tmp_path / "kept.parquet"), ("--from", "lm-eval", "--filter")
    outcome = run("gate", f"old={tmp_path}/old", *read, "strict", "--bless", path)
    assert outcome.status == 0, outcome.stderr
    arguments = (f"new={tmp_path}/new", *read)
    assert run("gate", *arguments, "strict", "--baseline", path, *CLAIM, *FEW).status == 1
    error = messages_of("gate", *arguments, "loose", "--baseline", path, *CLAIM)
    assert "--filter has changed" in error
    assert "strict in the baseline, loose now" in error
    table = write("new.csv", scores(tasks=("sums",)))
    assert "--from auto" in messages_of("gate", f"new={table}", "--baseline", path, *CLAIM)


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b"PAR1 and then nothing"), "Parquet"),
        (lambda path: pl.read_parquet(path).write_parquet(path), "the metadata of a baseline"),
        (
            lambda path: (
                pl.read_parquet(path)
                .with_columns(score=pl.lit(0.0))
                .write_parquet(path, metadata=pl.read_parquet_metadata(path))
            ),
            "the scores have changed since they were blessed",
        ),
        (
            lambda path: pl.read_parquet(path).write_parquet(path, metadata={"riskrank": "[" * 9999}),
            "metadata",
        ),
        (lambda path: pl.read_parquet(path).write_parquet(path, metadata={"riskrank": "{}"}), "metadata"),
    ],
)
def test_an_invalid_baseline_is_refused(messages_of, write, bless, tmp_path, change, detail):
    bless(scores("v1"))
    change(tmp_path / "kept.parquet")
    path = str(tmp_path / "kept.parquet")
    error = messages_of("gate", f"new={write('new.csv', scores())}", "--baseline", path, *CLAIM)
    assert detail in error, error
    assert error.startswith(("error: --baseline", f"error: {path}"))


def test_only_a_pass_is_blessed(run, write, bless, tmp_path):
    path = bless(scores("v1", seed=2))
    before = (tmp_path / "kept.parquet").read_bytes()
    options = ("--baseline", path, "--bless", path, *CLAIM, *FEW)
    cases = ((scores(share=0.2), 1, "failed"), (scores(share=0.75), 4, "is inconclusive"))
    for table, status, outcome_ in cases:
        outcome = run("gate", f"new={write('new.csv', table)}", *options)
        assert outcome.status == status, outcome.stdout
        assert f"is unchanged: the gate {outcome_}, and only a pass updates the baseline" in outcome.stderr
        assert (tmp_path / "kept.parquet").read_bytes() == before
    # An accepted inconclusive claim is not significant either.
    outcome = run("gate", f"new={write('new.csv', scores(share=0.75))}", *options, "--inconclusive", "pass")
    assert outcome.status == 0, outcome.stdout
    assert "is unchanged: the gate is inconclusive, and only a pass updates the baseline" in outcome.stderr
    assert (tmp_path / "kept.parquet").read_bytes() == before
    better, equal = scores("v3", share=0.99), scores("v3", share=0.99, seed=4)
    for table, lost in ((better, False), (equal, True)):
        outcome = run("gate", f"new={write('new.csv', table)}", *options)
        assert outcome.status == 0, outcome.stdout
        assert "new passed and is the new baseline" in outcome.stderr
        assert ("Losses smaller than --margin add up" in outcome.stderr) == lost
    assert read_baseline(path).model == "new"


def test_python_has_both(tmp_path, write):
    path = tmp_path / "kept.parquet"
    old, new = scores("v1", seed=2), scores(share=0.95)
    rr.read(old).bless(path)
    result = rr.gate(new, new="v2", baseline=str(path), margin=0.1, resamples=400)
    assert result.passed
    assert result.rows[0].old == "baseline"
    same = rr.gate([new, old], not_worse="v2:v1", margin=0.1, resamples=400)
    assert result.rows[0].p_value == same.rows[0].p_value
    with pytest.raises(rr.errors.UsageError, match="one model"):
        rr.read([new, old]).bless(path)
    with pytest.raises(rr.errors.UsageError, match="Parquet"):
        rr.read(old).bless(tmp_path / "kept")
    with pytest.raises(rr.errors.UsageError, match=r"judge=.* and bless cannot be used together"):
        rr.read(scores(metrics=("acc", "llm")), human="acc", judge="llm").bless(path)
    with pytest.raises(rr.errors.InputError, match=r"rr\.read\(scores\)\.bless"):
        rr.gate(new, new="v2", baseline=str(tmp_path / "gone"))
