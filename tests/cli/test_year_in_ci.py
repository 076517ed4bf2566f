"""A year of CI runs against one baseline: each run prints one line of advice, and none passes wrongly.

The evaluation has two lm-eval tasks with 150 samples each. The workflow step stays the same all year.
"""

import json

import numpy as np
import pytest

LINE = (
    "--from",
    "lm-eval",
    "--not-worse",
    "new:baseline",
    "--margin",
    "0.1",
    "--on",
    "macro",
    "--on",
    "task",
)
FEW = ("--resamples", "1000", "--set", "jobs=1")
TASKS = ("algebra", "reading")
SAMPLES = 150


@pytest.fixture
def evaluate(tmp_path):
    """Write the output of one harness run and return its folder."""

    def written(
        week,
        *,
        model="system-v1",
        skill=0.7,
        tasks=TASKS,
        metrics=("exact_match",),
        start=0,
        errored=False,
        empty=False,
        filter_name="none",
        higher=True,
        names=str,
    ):
        folder = tmp_path / f"week-{week}" / model
        folder.mkdir(parents=True)
        luck, hard = np.random.default_rng(week), np.random.default_rng(0)
        results = {}
        for task in tasks:
            right = (skill + 0.1 * luck.random(SAMPLES) > hard.random(SAMPLES)).astype(float)
            lines = []
            for at, score in enumerate(right.tolist()):
                if errored and at % 10 == 3:
                    if empty:
                        score = None
                    else:
                        continue
                record = {"doc_id": names(at + start), "filter": filter_name, "metrics": list(metrics)}
                lines.append(json.dumps(record | dict.fromkeys(metrics, score)))
            place = folder / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
            place.write_text("\n".join(lines) + "\n")
            results[task] = {f"{name},{filter_name}": right.mean() for name in metrics}
        directions = {task: dict.fromkeys(metrics, higher) for task in tasks}
        record = {"model_name": model, "results": results, "higher_is_better": directions}
        (folder / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(record))
        return str(folder.parent)

    return written


@pytest.fixture
def week(run, evaluate, tmp_path, monkeypatch):
    """Evaluate, and run the gate of the workflow; return its status and its printed verdict."""
    monkeypatch.chdir(tmp_path)

    def run_week(number, *options, **changed):
        folder = evaluate(number, **changed)
        outcome = run("gate", f"new={folder}", "--baseline", "baseline.parquet", *LINE, *FEW, *options)
        if outcome.status == 2:
            assert all(line.startswith("  riskrank ") for line in outcome.stderr.splitlines()[3:])
        return outcome.status, outcome.stdout, outcome.stderr

    return run_week


@pytest.mark.slow
def test_a_year_in_ci(run, week, evaluate, tmp_path):
    blessed = run("gate", evaluate(0), "--from", "lm-eval", "--bless", "baseline.parquet")
    assert blessed.status == 0, blessed.stderr
    baseline = (tmp_path / "baseline.parquet").read_bytes()
    refused = [
        # Document numbers start at 1 instead of 0.
        (6, {"start": 1}, "298 of the 300 baseline samples", "baseline may number samples from 0"),
        # The harness was upgraded: a metric has another name, documents have, or less is better.
        (7, {"metrics": ("exact_match_strict",)}, "lack the metric 'exact_match'", "if it was renamed"),
        (8, {"names": lambda at: f"doc-{at:04d}"}, "0 of the 300 baseline samples", "names have changed"),
        (9, {"higher": False}, "direction was higher in the baseline and is lower now", "undo the change"),
        # A job of the matrix died: a task is missing.
        (10, {"tasks": TASKS[:1]}, "lack the task 'reading'", "run it"),
        (11, {"tasks": (*TASKS, "safety")}, "the baseline has no task 'safety'", "--bless"),
    ]
    # Good weeks pass; another name of the model changes nothing but what is told.
    assert week(1, skill=0.75)[0] == 0
    status, page, _ = week(2, model="system-v2", skill=0.75)
    assert (status, "Baseline: system-v1, blessed in baseline.parquet" in page) == (0, True)
    # A metric was added, which no claim needs.
    status, page, _ = week(3, skill=0.75, metrics=("exact_match", "f1"))
    assert (status, "no claim tests f1 (absent from baseline.parquet)" in page) == (0, True)
    for number, changed, detail, to_do in refused:
        status, page, lines = week(number, skill=0.75, **changed)
        assert (status, page) == (2, ""), (number, lines)
        assert detail in lines, (number, lines)
        assert to_do in lines.splitlines()[2], (number, lines)
    # What to do is done, and works: what errored counts as wrong, and claims are about what both have.
    assert week(12, "--missing", "worst", skill=0.75, errored=True)[0] in (1, 4)
    assert week(13, "--metric", "exact_match", skill=0.75, metrics=("exact_match", "f1"))[0] == 0
    # Different samples must not be dropped until the rest passes.
    for number, start in ((20, 1), (21, 75)):
        status, page, lines = week(number, "--missing", "drop", skill=0.9, start=start)
        assert (status, page) == (2, ""), lines
    # A step back fails, blesses nothing, and says which cases; a small one is not enough to say.
    status, page, lines = week(14, "--cases", "3", "--bless", "baseline.parquet", skill=0.4)
    assert status == 1
    assert "Cases with the largest losses of new in exact_match on reading" in page
    assert "baseline.parquet is unchanged: the gate failed" in lines
    assert (tmp_path / "baseline.parquet").read_bytes() == baseline
    assert week(15, "--bless", "baseline.parquet", skill=0.62)[0] in (1, 4)
    assert (tmp_path / "baseline.parquet").read_bytes() == baseline
    # The baseline was lost with a cache, or cut short on the way.
    (tmp_path / "baseline.parquet").unlink()
    status, _, lines = week(16, skill=0.9)
    assert (status, "no such file" in lines, "--bless baseline.parquet" in lines) == (2, True, True)
    (tmp_path / "baseline.parquet").write_bytes(baseline[: len(baseline) // 2])
    assert week(17, skill=0.9)[0] == 2
    # A release: a step forward is shown, and what comes after is compared with it.
    (tmp_path / "baseline.parquet").write_bytes(baseline)
    status, _, lines = week(18, "--bless", "baseline.parquet", model="system-v2", skill=0.9)
    assert (status, "new passed and is the new baseline" in lines) == (0, True)
    assert week(19, skill=0.75)[0] == 1
