"""Following a suggestion of the reading stage literally leads to the true answer."""

import re

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import RiskrankError

RNG = np.random.default_rng(64)
N = 60
QUESTIONS = [f"q{at:02}" for at in range(N)]
OPTION = re.compile("\ue000([a-z_]+)\ue001([^\ue002]*)\ue002")


def scores(lift=0.0):
    return np.clip(0.4 + lift + RNG.normal(0, 0.1, N), 0, 1).round(3)


def wide(metric="f1", model="model", sample="question", lift=0.25):
    """Scores in which ``good`` is far better; `lift` is negative where lower is better."""
    parts = [
        pl.DataFrame({model: [name] * N, sample: QUESTIONS, metric: scores(shift)})
        for name, shift in (("bad", 0.0), ("good", lift))
    ]
    return pl.concat(parts)


def close():
    """Scores in which ``good`` is slightly better on every sample."""
    values = scores()
    return wide().with_columns(f1=pl.Series(np.r_[values, values + 0.03]))


def with_missing(frame, column, rows):
    return frame.with_columns(pl.when(~rows).then(column).alias(column))


def failing(frame=None, every=2):
    """Scores in which ``bad`` fails in every second run, else passes; ``good`` passes six of seven."""
    failed = (pl.col("model") == "bad") & (pl.int_range(2 * N) % every == 0)
    status = pl.when(failed).then(pl.lit("error")).otherwise(pl.lit("ok")).alias("status")
    if frame is not None:
        return with_missing(frame.with_columns(status), "f1", failed)
    passed = pl.Series([True] * N + [at % 7 > 0 for at in range(N)])
    return with_missing(wide("passed").with_columns(status, passed=passed), "passed", failed)


def rate_limited(blank, every=6):
    """Scores in which ``good`` was rate-limited on every sixth sample."""
    missing = (pl.col("model") == "good") & (pl.int_range(2 * N) % every == 0)
    status = pl.when(missing).then(pl.lit("rate_limited")).otherwise(pl.lit("ok")).alias("status")
    result = with_missing(wide().with_columns(status), "f1", missing)
    return result if blank else result.with_columns(pl.col("f1").fill_null(0))


def timed():
    """Scores without a time for failed runs: ``good`` passes more often, ``bad`` is faster when it passes."""
    passed = pl.Series([float(at % 3 == 0) for at in range(N)] + [float(at % 9 > 0) for at in range(N)])
    took = pl.Series("time_s", np.r_[1 + np.arange(N) % 10 / 10, 2 + np.arange(N) % 10 / 10])
    return with_missing(wide("success").with_columns(took, success=passed), "time_s", passed == 0)


def labelled():
    """Scores with labels on four of five samples: the judge favours ``bad``, the labels favour ``good``."""
    frame = wide("human_score", lift=0.3).with_columns(judge_score=pl.Series(np.r_[scores(0.1), scores()]))
    return with_missing(frame, "human_score", pl.int_range(2 * N) % N % 5 == 0)


def leaderboard():
    tasks = {
        f"t{at}": [at / 20 + RNG.normal(0, 0.005) + offset for offset in (0, 0.01, 0.3)] for at in range(12)
    }
    return pl.DataFrame({"model": ["bad", "poor", "good"], **tasks})


def tasks_as_rows():
    long = leaderboard().unpivot(index="model", variable_name="task", value_name="accuracy")
    missing = (pl.col("model") == "poor") & pl.col("task").is_in(["t10", "t11"])
    return with_missing(long, "accuracy", missing).pivot("model", index="task", values="accuracy")


def delays():
    of_model = {name: -size * np.log(RNG.uniform(size=N)) for name, size in (("bad", 9), ("good", 3))}
    return pl.DataFrame({"ticket": QUESTIONS, **of_model})


CASES = {
    "gaps at random": ("excludes 3 of 60", with_missing(wide(), "f1", pl.int_range(2 * N) % 20 == 3), {}),
    "gaps of many": ("representative only if", with_missing(wide(), "f1", pl.int_range(2 * N) % 4 == 3), {}),
    "absent rows": ("excludes 5 of 60", wide().filter(pl.int_range(2 * N) >= 5), {}),
    "gaps of one metric": (
        "excludes",
        with_missing(wide().with_columns(em=pl.col("f1")), "em", pl.int_range(2 * N) % 3 == 1),
        {},
    ),
    "failures": ("which suggests failures", failing(), {}),
    "failures written NaN": (
        "which suggests failures",
        failing().with_columns(pl.col("passed").cast(pl.Float64).fill_null(float("nan"))),
        {},
    ),
    "failures of what is graded": (
        "failures of unknown severity",
        failing(close(), every=8),
        {},
    ),
    "codes without a known reason": (
        "a common code for a missing score",
        failing(close(), every=8).drop("status").fill_null(-1),
        {},
    ),
    "nobody asked": ("status is rate_limited", rate_limited(blank=True), {}),
    "zeros where nobody asked": ("are 0 where status is rate_limited", rate_limited(blank=False), {}),
    "gaps of one model": ("the reason is unknown", rate_limited(blank=True, every=3).drop("status"), {}),
    "times of successes": ("time_s has scores only if success is 1", timed(), {}),
    "labels": ("calibrates the judge", labelled(), {"columns": "sample=question", "wide": True}),
    "a name that may mean either": ("unknown direction", wide("risk", lift=-0.2), {}),
    "rows that may be models": ("several possible readings", leaderboard(), {"matrix": "accuracy"}),
    "tasks with holes": ("compares each pair of models", tasks_as_rows(), {"higher": ["score"]}),
    "a matrix of what nothing says": ("lower score is better", delays(), {}),
    "a measure of each": (
        "missing columns 'model', 'sample'",
        pl.DataFrame({"day_id": QUESTIONS, "good_abs_error": scores(-0.2), "bad_abs_error": scores()}),
        {},
    ),
    "two columns that name models": (
        "several possible readings",
        wide(model="who").with_columns(place=pl.col("who") + "-" + pl.col("who")),
        {},
    ),
}  # fmt: skip


REMAINING_SAMPLES = {"gaps of one model": 40} | dict.fromkeys(
    ["failures of what is graded", "codes without a known reason", "zeros where runs failed"], 52
)


@pytest.mark.parametrize("kind", CASES)
def test_first_suggestion_leads_to_the_true_answer(kind):
    message, frame, options = CASES[kind]
    options = {"resamples": 200, "jobs": 1} | options
    messages: list[str] = []
    while (result := rank_or_follow(frame, options, messages)) is None and len(messages) <= 3:
        pass
    assert message in messages[0]
    assert result is not None, messages
    # No model is shipped if one lost a third of its samples, or enough to change the decision.
    left = REMAINING_SAMPLES.get(kind)
    answer = f"good is .* on the {left} samples" if left else "Ship good"
    assert re.match(answer, result.verdict), (result.verdict, options)
    dropped = [text for text in result.warnings if text.startswith("dropped ")]
    assert bool(dropped) == (options.get("missing") == "drop")


def rank_or_follow(frame, options, messages):
    """Return the result, or None after adding the options of the first suggestion."""
    try:
        return rr.rank(frame, **options)
    except RiskrankError as error:
        messages.append(str(error))
        suggestion = dict(OPTION.findall(error.suggestions[0][0])) if error.suggestions else {}
    options |= {name: True if value == "True" else value for name, value in suggestion.items()}
    return None
