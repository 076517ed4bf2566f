"""Each way out that a refusal of the reading stage prints, followed as it stands, leads to what is true."""

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
    """The model ``good`` is better by far; less of it is where `lift` is negative."""
    parts = [
        pl.DataFrame({model: [name] * N, sample: QUESTIONS, metric: scores(own)})
        for name, own in (("bad", 0.0), ("good", lift))
    ]
    return pl.concat(parts)


def close():
    """``good`` is a little better on every sample."""
    own = scores()
    return wide().with_columns(f1=pl.Series(np.r_[own, own + 0.03]))


def lacking(frame, column, rows):
    return frame.with_columns(pl.when(~rows).then(column).alias(column))


def failing(frame=None, every=2):
    """``bad`` fails in one of so many runs; of passes it has all others, and ``good`` six of seven."""
    failed = (pl.col("model") == "bad") & (pl.int_range(2 * N) % every == 0)
    status = pl.when(failed).then(pl.lit("error")).otherwise(pl.lit("ok")).alias("status")
    if frame is not None:
        return lacking(frame.with_columns(status), "f1", failed)
    passed = pl.Series([True] * N + [at % 7 > 0 for at in range(N)])
    return lacking(wide("passed").with_columns(status, passed=passed), "passed", failed)


def unasked(blank, every=6):
    """Nobody got to ask ``good`` one sample in so many."""
    gone = (pl.col("model") == "good") & (pl.int_range(2 * N) % every == 0)
    status = pl.when(gone).then(pl.lit("rate_limited")).otherwise(pl.lit("ok")).alias("status")
    found = lacking(wide().with_columns(status), "f1", gone)
    return found if blank else found.with_columns(pl.col("f1").fill_null(0))


def timed():
    """``good`` passes more often; a run that failed has no time, and ``bad`` is quicker where it passes."""
    passed = pl.Series([float(at % 3 == 0) for at in range(N)] + [float(at % 9 > 0) for at in range(N)])
    took = pl.Series("time_s", np.r_[1 + np.arange(N) % 10 / 10, 2 + np.arange(N) % 10 / 10])
    return lacking(wide("success").with_columns(took, success=passed), "time_s", passed == 0)


def labelled():
    """The judge favours ``bad``, people find ``good`` better, and label four of five."""
    frame = wide("human_score", lift=0.3).with_columns(judge_score=pl.Series(np.r_[scores(0.1), scores()]))
    return lacking(frame, "human_score", pl.int_range(2 * N) % N % 5 == 0)


def reviewed():
    """As `labelled`, under names that tell nothing, for two of five samples."""
    frame = wide("reviewed", lift=0.3)
    told = frame["reviewed"] + np.r_[RNG.normal(0.5, 0.05, N), RNG.normal(0, 0.05, N)]
    return lacking(frame.with_columns(mark=told), "reviewed", pl.int_range(2 * N) % N % 5 < 3)


def board():
    tasks = {f"t{at}": [at / 20 + RNG.normal(0, 0.005) + own for own in (0, 0.01, 0.3)] for at in range(12)}
    return pl.DataFrame({"model": ["bad", "poor", "good"], **tasks})


def tasks_down():
    long = board().unpivot(index="model", variable_name="task", value_name="accuracy")
    gone = (pl.col("model") == "poor") & pl.col("task").is_in(["t10", "t11"])
    return lacking(long, "accuracy", gone).pivot("model", index="task", values="accuracy")


def delays():
    of_model = {name: -size * np.log(RNG.uniform(size=N)) for name, size in (("bad", 9), ("good", 3))}
    return pl.DataFrame({"ticket": QUESTIONS, **of_model})


FOLLOWED = {
    "gaps at random": ("leaves out 3 of 60", lacking(wide(), "f1", pl.int_range(2 * N) % 20 == 3), {}),
    "gaps of many": ("another population", lacking(wide(), "f1", pl.int_range(2 * N) % 4 == 3), {}),
    "absent rows": ("leaves out 5 of 60", wide().filter(pl.int_range(2 * N) >= 5), {}),
    "gaps of one metric": (
        "leaves out",
        lacking(wide().with_columns(em=pl.col("f1")), "em", pl.int_range(2 * N) % 3 == 1),
        {},
    ),
    "failures": ("failures rather than accidents", failing(), {}),
    "failures written NaN": (
        "failures rather than accidents",
        failing().with_columns(pl.col("passed").cast(pl.Float64).fill_null(float("nan"))),
        {},
    ),
    "failures of what is graded": (
        "how bad they are nobody says",
        failing(close(), every=8),
        {},
    ),
    "codes where nothing says why": (
        "as programs write it where there is no score",
        failing(close(), every=8).drop("status").fill_null(-1),
        {},
    ),
    "zeros where runs failed": (
        "are 0 where Zustand is error",
        failing(close(), every=8).fill_null(0).rename({"status": "Zustand"}),
        {},
    ),
    "nobody asked": ("status is rate_limited", unasked(blank=True), {}),
    "zeros where nobody asked": ("are 0 where status is rate_limited", unasked(blank=False), {}),
    "gaps of one model": ("nothing says why", unasked(blank=True, every=3).drop("status"), {}),
    "labels under other names": (
        "labels of reviewed beside a judge",
        reviewed(),
        {"higher": ["mark", "reviewed"]},
    ),
    "times of successes": ("time_s is there only where success is 1", timed(), {}),
    "labels": ("corrects the judge", labelled(), {"columns": "sample=question", "wide": True}),
    "a name that may mean either": ("which way is better", wide("risk", lift=-0.2), {}),
    "rows that may be models": ("several ways to read it", board(), {"matrix": "accuracy"}),
    "tasks with holes": ("compares each pair of models", tasks_down(), {"higher": ["score"]}),
    "a matrix of what nothing says": ("of which less score is better", delays(), {}),
    "a measure of each": (
        "whether each is a model",
        pl.DataFrame({"day_id": QUESTIONS, "good_abs_error": scores(-0.2), "bad_abs_error": scores()}),
        {},
    ),
    "two columns that name models": (
        "several ways to read it",
        wide(model="who").with_columns(place=pl.col("who") + "-" + pl.col("who")),
        {},
    ),
}  # fmt: skip


LEFT = {"gaps of one model": 40} | dict.fromkeys(
    ["failures of what is graded", "codes where nothing says why", "zeros where runs failed"], 52
)


@pytest.mark.parametrize("kind", FOLLOWED)
def test_the_first_way_out_leads_to_what_is_true(kind):
    said, frame, options = FOLLOWED[kind]
    options = {"resamples": 200, "jobs": 1} | options
    messages: list[str] = []
    while (found := tried(frame, options, messages)) is None and len(messages) <= 3:
        pass
    assert said in messages[0]
    assert found is not None, messages
    # What is left where one model lost much ships nobody: a third, or what could decide.
    left = LEFT.get(kind)
    answer = f"good is .* on the {left} samples" if left else "Ship good"
    assert re.match(answer, found.verdict), (found.verdict, options)
    dropped = [text for text in found.warnings if text.startswith("dropped ")]
    assert bool(dropped) == (options.get("missing") == "drop")


def tried(frame, options, messages):
    """A result, or None after the options of the first way out have been added."""
    try:
        return rr.rank(frame, **options)
    except RiskrankError as error:
        messages.append(str(error))
        way = dict(OPTION.findall(error.ways[0][0])) if error.ways else {}
    options |= {name: True if value == "True" else value for name, value in way.items()}
    return None
