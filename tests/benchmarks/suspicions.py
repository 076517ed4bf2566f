"""Register of suspicions: heuristics that refuse, warn or change a reading because of the values.

Each heuristic has tables on which it must stay silent, and tables with the fault that it detects, modelled on
a public example. A refusal must be certain, because no valid table may be refused by chance.
"""

import datetime
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import riskrank as rr
from riskrank.errors import RiskrankError
from riskrank.options.commands import BY_NAME
from riskrank.scores.files.source import FrameSource
from riskrank.scores.layouts.layout import DESIGN, warning_kind
from riskrank.scores.table.score_table import ScoreTable, read_scores

Rng = np.random.Generator
Options = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """Kind of table: how to draw and to read it, and its numbers of models and samples."""

    name: str
    draw: Callable[[Rng], pl.DataFrame]
    samples: int
    models: int = 2
    options: Options = field(default_factory=dict)

    def table(self, seed: int) -> pl.DataFrame:
        """Draw the table of a seed."""
        return self.draw(np.random.default_rng([seed, zlib.crc32(self.name.encode())]))


@dataclass(frozen=True)
class Suspicion:
    """Heuristic: its function and messages, tables with its fault, and a public example of the fault.

    `is_final` is True if no command answers such a table.
    """

    name: str
    place: str
    says: str
    harmful: Kind
    example: str
    is_final: bool = False


def scores_of(
    rng: Rng, models: int, samples: int, repeats: int = 1, *, binary: bool = False, shared: float = 1.0
) -> np.ndarray:
    """Return independent scores of equal models, shape (models, samples, repeats)."""
    values = shared * rng.normal(size=(samples, 1)) + rng.normal(size=(models, samples, repeats))
    return (values > 0).astype(float) if binary else values


def rows_of(values: np.ndarray, column: str = "trial", sample: str = "question") -> pl.DataFrame:
    """Return one row per model, sample and repeat; without repeats, their column is omitted."""
    model, item, run = (axis.ravel() for axis in np.indices(values.shape))
    frame = pl.DataFrame(
        {
            "build": [f"b{i}" for i in model],
            sample: [f"q{i}" for i in item],
            column: run + 1,
            "score": values.ravel(),
        }
    )
    return frame if values.shape[2] > 1 else frame.drop(column)


def long_rows(values: np.ndarray, **columns: Sequence[Any]) -> pl.DataFrame:
    """Return a table with the standard column names, and further columns with a value per sample."""
    model, item, _ = (axis.ravel() for axis in np.indices(values.shape))
    more = {name: [value[i] for i in item] for name, value in columns.items()}
    names = {"sample": [f"q{i}" for i in item]} | more
    return pl.DataFrame(
        {"model": [f"b{i}" for i in model], **names, "metric": "quality", "score": values.ravel()}
    )


def trials(
    samples: int, repeats: int, column: str = "trial", *, binary: bool = False
) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of repeats that are independent by construction."""
    return lambda rng: rows_of(scores_of(rng, 2, samples, repeats, binary=binary), column)


def matrix(rng: Rng) -> pl.DataFrame:
    values = scores_of(rng, 3, 80, binary=True)[..., 0]
    return pl.DataFrame({"question": [f"q{i}" for i in range(80)], **{f"b{i}": values[i] for i in range(3)}})


def spare(
    column: str, count: int, label: str, within: float = 0.0, size: int = 100
) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of tables with a column of groups; scores within a group may be correlated."""

    def draw(rng: Rng) -> pl.DataFrame:
        groups = np.arange(size) * count // size
        common = rng.normal(size=(2, count, 1))[:, groups]
        values = scores_of(rng, 2, size, shared=1.0)
        values = np.sqrt(1 - within) * values + np.sqrt(within) * common
        names = [label.format(group, at) for at, group in enumerate(groups.tolist())]
        return long_rows(values, **{column: names})

    return draw


def words_of(column: str, names: Sequence[str], size: int = 120) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of tables with a column of words that is unrelated to the scores."""

    def draw(rng: Rng) -> pl.DataFrame:
        return long_rows(scores_of(rng, 2, size), **{column: rng.permutation(np.resize(names, size))})

    return draw


def shuffled(rng: Rng) -> pl.DataFrame:
    frame = long_rows(scores_of(rng, 2, 250))
    return frame.sample(fraction=1.0, shuffle=True, seed=int(rng.integers(2**31)))


def counted(rng: Rng, within: float = 0.0) -> pl.DataFrame:
    values = scores_of(rng, 2, 200)
    for at in range(1, 200):
        values[:, at] = within * values[:, at - 1] + np.sqrt(1 - within**2) * values[:, at]
    return long_rows(values, sample=range(200)).rename({"sample": "t"})


def first_hits(rng: Rng) -> pl.DataFrame:
    return rows_of(rng.integers(0, 9, size=(3, 40, 1)).astype(float)).rename({"score": "rank_of_hit"})


def forecasts(rng: Rng) -> pl.DataFrame:
    truth = rng.normal(100, 20, size=60)
    return pl.DataFrame({"actual": truth, **{f"b{i}": truth + rng.normal(0, 5, 60) for i in range(2)}})


def latencies(rng: Rng) -> pl.DataFrame:
    values = np.exp(scores_of(rng, 3, 60))
    return rows_of(values).rename({"score": "latency_ms"})


def ratings(rng: Rng) -> pl.DataFrame:
    values = np.clip(np.round(3.4 + scores_of(rng, 3, 40)), 1, 5)
    return rows_of(values).rename({"score": "rating"})


def percentages(rng: Rng) -> pl.DataFrame:
    values = np.round(100 * rng.beta(1.2, 3, size=(3, 30, 1)), 1)
    return rows_of(values).rename({"score": "f1"})


def rewards(rng: Rng) -> pl.DataFrame:
    return rows_of(np.clip(np.round(scores_of(rng, 2, 60)), -1, 1)).rename({"score": "reward"})


def points(rng: Rng) -> pl.DataFrame:
    return rows_of(np.round(rng.beta(3, 3, size=(2, 50, 1)) * 20)).rename({"score": "points"})


def judged(rng: Rng, *, chosen: bool = False, zeros: bool = False) -> pl.DataFrame:
    values = scores_of(rng, 2, 300)[..., 0]
    judge = values + 0.5 * rng.normal(size=values.shape)
    order = np.argsort(judge.mean(axis=0)) if chosen else rng.permutation(300)
    labelled = np.isin(np.arange(300), order[:60])
    human = [
        value if labelled[at] else (0.0 if zeros else None) for row in values for at, value in enumerate(row)
    ]
    frame = rows_of(judge[..., None]).rename({"score": "judge"})
    return frame.with_columns(human=pl.Series(human))


def unshared(rng: Rng, mix: float = 0.5) -> pl.DataFrame:
    """Draw models with different samples of two kinds, in different proportions."""
    parts = []
    for at, share in enumerate((0.5, mix)):
        hard = rng.random(150) < share
        values = rng.normal(size=150) - 1.0 * hard
        parts.append(
            pl.DataFrame(
                {
                    "model": f"b{at}",
                    "ticket": [f"t{at}{i}" for i in range(150)],
                    "difficulty": np.where(hard, "hard", "easy"),
                    "score": values,
                }
            )
        )
    return pl.concat(parts)


def suite(rng: Rng) -> pl.DataFrame:
    frame = long_rows(scores_of(rng, 2, 90, binary=True), task=[f"t{at % 3}" for at in range(90)])
    return frame


def trained(sd: float, column: str = "seed", repeats: int = 5) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of tables with random seeds, each better or worse on all samples."""

    def draw(rng: Rng) -> pl.DataFrame:
        return rows_of(scores_of(rng, 2, 100, repeats) + sd * rng.normal(size=(2, 1, repeats)), column)

    return draw


def two_units(rng: Rng) -> pl.DataFrame:
    values = rng.beta(6, 3, size=(3, 40, 1))
    values[1] *= 100
    return rows_of(values).rename({"score": "accuracy"})


def coded(rng: Rng) -> pl.DataFrame:
    values = rng.beta(6, 3, size=(2, 60, 1))
    values[1, :6] = -1
    return rows_of(values).rename({"score": "accuracy"})


def named_trials(rng: Rng) -> pl.DataFrame:
    frame = rows_of(scores_of(rng, 2, 40, 4)).rename({"build": "model", "question": "sample"})
    return frame.with_columns(metric=pl.lit("quality"))


def failed(rng: Rng, status: str = "timeout") -> pl.DataFrame:
    values = rng.beta(6, 3, size=(2, 60))
    late = rng.random((2, 60)) < 0.1
    late[0, 0] = True
    frame = rows_of(np.where(late, 0.0, values)[..., None]).rename({"score": "f1"})
    return frame.with_columns(status=pl.Series(np.where(late.ravel(), status, "ok")))


def rerun(rng: Rng) -> pl.DataFrame:
    passed = rows_of((rng.random((2, 60, 3)) < 0.6) * 1.0, "attempt").rename({"score": "passed"})
    earlier = pl.col("passed").cum_sum().shift(1, fill_value=0).over("build", "question")
    first = pl.col("attempt") == pl.col("attempt").first().over("build", "question")
    return passed.filter(first | ((pl.col("build") == "b1") & (earlier == 0)))


def units(rng: Rng) -> pl.DataFrame:
    frame = rows_of(rng.gamma(9.0, 0.2, size=(2, 50, 1))).rename({"score": "latency"})
    unit = pl.when(pl.col("build") == "b0").then(pl.lit("ms")).otherwise(pl.lit("s"))
    return frame.with_columns(unit=unit)


def rating_scales(rng: Rng) -> pl.DataFrame:
    shares = np.clip(scores_of(rng, 2, 60) * 0.2 + 0.5, 0, 1)
    long = np.arange(60) % 2 == 1
    frame = rows_of(np.round(1 + np.where(long[:, None], 9, 4) * shares)).rename({"score": "rating"})
    return frame.with_columns(scale=pl.Series(np.tile(np.where(long, "1-10", "1-5"), 2)))


def rate_parts(rng: Rng) -> pl.DataFrame:
    visitors = rng.integers(500, 900, (2, 60, 1))
    frame = rows_of(rng.binomial(visitors, 0.04) / visitors).rename({"score": "conversion_rate"})
    frame = frame.with_columns(visitors=pl.Series(visitors.ravel()))
    orders = (pl.col("conversion_rate") * pl.col("visitors")).round().cast(pl.Int64)
    return frame.with_columns(orders=orders, conversion_rate=pl.col("conversion_rate").round(4))


def trial_counts(rng: Rng) -> pl.DataFrame:
    trials = np.repeat([10, 40], 80)
    frame = rows_of(rng.binomial(trials, 0.8).reshape(2, 80, 1)).rename({"score": "n_correct"})
    return frame.with_columns(n_samples=pl.Series(trials))


def errors(rng: Rng) -> pl.DataFrame:
    return rows_of(rng.gamma(1.5, 2.0, size=(2, 60, 1))).rename({"score": "excess"})


def negated(rng: Rng) -> pl.DataFrame:
    return rows_of(-rng.gamma(1.5, 2.0, size=(2, 60, 1))).rename({"score": "mae"})


def marks(rng: Rng) -> pl.DataFrame:
    return rows_of(np.clip(np.round(2.6 + scores_of(rng, 2, 40)), 1, 6)).rename({"score": "Note"})


def signed(rng: Rng) -> pl.DataFrame:
    return rows_of(scores_of(rng, 2, 40)).rename({"score": "offset"})


def more(column: str, values: Callable[[np.ndarray], Any], models: int = 2) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of wide tables with a further column, computed from the scores of all rows."""

    def draw(rng: Rng) -> pl.DataFrame:
        frame = rows_of(rng.beta(6, 3, size=(models, 60, 1))).rename({"score": "f1"})
        return frame.with_columns(pl.Series(column, values(frame["f1"].to_numpy())))

    return draw


def averaged(rng: Rng) -> pl.DataFrame:
    values = np.round(rng.beta(6, 3, size=(2, 120)), 3)
    frame = rows_of(values[0].reshape(2, 60, 1)).rename({"score": "recall"})
    return frame.with_columns(precision=pl.Series(values[1]), average=pl.Series(values.mean(axis=0)))


def oracle(rng: Rng) -> pl.DataFrame:
    frame = matrix(rng)
    return frame.with_columns(oracle=pl.max_horizontal("b0", "b1", "b2"))


def worst(rng: Rng) -> pl.DataFrame:
    values = np.sort(rng.gamma(2.0, size=(2, 400)), axis=1)[:, ::-1][:, :20]
    frame = rows_of(values[..., None]).rename({"score": "cer"})
    ranks, names = np.tile(np.arange(1, 21), 2), [f"u{at}" for at in rng.permutation(400)[:40]]
    return frame.with_columns(rank=pl.Series(ranks), question=pl.Series(names))


def repeated(rng: Rng) -> pl.DataFrame:
    frame = rows_of(scores_of(rng, 2, 40)).rename({"score": "f1"})
    return pl.concat([frame, frame])


def saturated(rng: Rng) -> pl.DataFrame:
    return rows_of(np.ones((2, 40, 1))).rename({"score": "accuracy"})


def daily(n: int, within: float) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of days; scores of neighbouring days may be correlated."""

    def draw(rng: Rng) -> pl.DataFrame:
        values = scores_of(rng, 2, n)
        for at in range(1, n):
            values[:, at] = within * values[:, at - 1] + np.sqrt(1 - within**2) * values[:, at]
        first = datetime.date(2025, 1, 1)
        days = [str(first + datetime.timedelta(days=at)) for at in range(n)]
        return long_rows(values, sample=days)

    return draw


def leaderboard(rng: Rng, *, speed: bool = False) -> pl.DataFrame:
    tasks = ("piqa", "boolq", "arc", "mmlu", "hellaswag", "copa_task", "winogrande", "drop")
    values = np.round(100 * rng.beta(6, 3, size=(12, 8)), 1)
    frame = pl.DataFrame({"model": [f"b{at}" for at in range(12)], **dict(zip(tasks, values.T, strict=True))})
    return frame.with_columns(elo=pl.Series(rng.normal(6000, 900, 12))) if speed else frame


def scaled(rng: Rng) -> pl.DataFrame:
    return judged(rng).with_columns(judge=1 + 9 / (1 + (-pl.col("judge")).exp()))


def arena(
    first_wins: float = 0.5, models: int = 2, count: int = 200, *, fixed: bool = False
) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of votes; the answer in the first position may win more often."""

    def draw(rng: Rng) -> pl.DataFrame:
        pairs = np.array([sorted(rng.choice(models, 2, replace=False)) for _ in range(count)])
        pairs = pairs if fixed else np.where(rng.random((count, 1)) < 0.5, pairs, pairs[:, ::-1])
        winner = np.where(rng.random(count) < first_wins, *pairs.T)
        sides = {"first": pairs[:, 0], "second": pairs[:, 1], "winner": winner}
        names = {name: [f"b{at}" for at in values] for name, values in sides.items()}
        return pl.DataFrame({"prompt": [f"q{at}" for at in range(count)]} | names)

    return draw


DOCUMENTS = "doc{0}_q{1}"
_JUDGED = {"wide": True, "human": "human", "judge": "judge", "higher": ("human", "judge")}
BENIGN = (
    Kind("20 questions × 10 trials", trials(20, 10), 20),
    Kind("50 questions × 5 trials", trials(50, 5, "run"), 50),
    Kind("100 questions × 3 reps, 0/1", trials(100, 3, "rep", binary=True), 100),
    Kind("200 questions × 4 repeats", trials(200, 4, "repeat"), 200),
    Kind("30 questions × 8 attempts, 0/1", trials(30, 8, "attempt", binary=True), 30),
    Kind("40 questions × 5 epochs", trials(40, 5, "epoch"), 40),
    Kind("60 questions × 2 trials", trials(60, 2), 60),
    Kind("trials in a table with standard columns", named_trials, 40),
    Kind("50 questions × 5 seeds of answers", trials(50, 5, "seed"), 50),
    Kind("matrix of 0/1", matrix, 80, 3),
    Kind("document column, independent", spare("document", 20, "d{0}"), 100),
    Kind("batch column, independent", spare("batch", 20, "batch{0}"), 100),
    Kind("words in a column", words_of("style", [f"style {at}" for at in "abcdefghijkl"]), 120),
    Kind("names of documents, independent", spare("sample", 20, DOCUMENTS), 100),
    Kind("names of one benchmark", spare("sample", 1, "mmlu-{1}", size=120), 120),
    Kind("shuffled rows", shuffled, 250),
    Kind("counted rows", counted, 200, 2, {"columns": "sample=t"}),
    Kind("latencies", latencies, 60, 3, {"lower": ("latency_ms",)}),
    Kind("ratings 1 to 5", ratings, 40, 3),
    Kind("percentages", percentages, 30, 3),
    Kind("rewards −1, 0, 1", rewards, 60),
    Kind("points", points, 50),
    Kind("zeros after timeouts", failed, 60),
    Kind("judge, random labels", judged, 300, 2, _JUDGED),
    Kind("different samples, same mix", unshared, 300),
    Kind("suite of three tasks", suite, 90),
    Kind("60 days, independent", daily(60, 0.0), 60),
    Kind("leaderboard of 8 tasks", leaderboard, 8, 12, {"higher": ("score",)}),
    Kind("votes on two models", arena(), 200),
    Kind("votes on six models", arena(models=6, count=300), 300, 6),
)

SUSPICIONS = (
    Suspicion(
        "repeats differ systematically",
        "dependence.declare_systematic_runs",
        "differ systematically",
        Kind("runs of trained models", trained(0.5, "run"), 100),
        "Henderson et al. (2018): two halves of ten runs of one algorithm differ significantly",
    ),
    Suspicion(
        "samples correlate within a column",
        "dependence.find_clusters",
        "same (?!start)\\S+ are correlated|values of (?!start)\\S+, such as",
        Kind("batches, intraclass correlation .4", spare("batch", 20, "batch{0}", 0.4), 100),
        "Miller (2024): questions on one passage in DROP, SQuAD and RACE",
    ),
    Suspicion(
        "samples correlate within starts of names",
        "dependence._clusters_by_name",
        "start of sample are correlated|start of sample, such as",
        Kind("doc12_q3, intraclass correlation .4", spare("sample", 20, DOCUMENTS, 0.4), 100),
        "SQuAD and CoQA: identifiers begin with the passage",
    ),
    Suspicion(
        "autocorrelation in file order",
        "dependence.autocorrelation_note",
        "autocorrelated in file order|samples in order of t,",
        Kind("counted rows, AR .7", lambda rng: counted(rng, 0.7), 200, 2, {"columns": "sample=t"}),
        "M4: hourly and daily forecast errors",
    ),
    Suspicion(
        "two units",
        "validate.value_errors",
        "mix percentages and fractions",
        Kind("one model in per cent", two_units, 40, 3),
        "leaderboards that mix results of two harnesses",
    ),
    Suspicion(
        "codes for missing scores",
        "validate.missing_code_errors",
        "a common code",
        Kind("−1 for no answer", coded, 60),
        "HELM and Open ASR: −1 where nothing was measured",
    ),
    Suspicion(
        "zeros where nobody was asked",
        "validate.failure_zero_errors",
        "are 0 where",
        Kind("0 after a rate limit", lambda rng: failed(rng, "rate_limited"), 60),
        "SWE-bench: requests that met a rate limit count as failures",
    ),
    Suspicion(
        "failures were run again",
        "comparability._rerun_errors",
        "was run again only where",
        Kind("the second model until it passes", rerun, 60),
        "SWE-bench: submissions with several attempts until the tests pass",
    ),
    Suspicion(
        "a column of units",
        "comparability._unit_errors",
        "is in different units",
        Kind("ms and s", units, 50),
        "pyperf and hyperfine: times in s or ms, as a column says",
    ),
    Suspicion(
        "a column of rating scales",
        "comparability._scale_errors",
        "the scores are on different scales",
        Kind("items rated on 1-5 or 1-10", rating_scales, 60),
        "surveys: items with five and with ten grades in one export",
    ),
    Suspicion(
        "counts out of unequal numbers of trials",
        "comparability._total_errors",
        "unequal numbers of trials",
        Kind("10 or 40 samples per problem", trial_counts, 80, 2, {"metric": ("n_correct",)}),
        "HumanEval: n samples per problem, of which c are correct",
    ),
    Suspicion(
        "direction: distributed like an error",
        "directions.looks_like_errors",
        "distributed like an error",
        Kind("gaps", errors, 60),
        "optimality gaps of solvers",
    ),
    Suspicion(
        "direction: negated errors",
        "directions.looks_like_negated_errors",
        "no value is above 0",
        Kind("scikit-learn's neg_mean_absolute_error as mae", negated, 60),
        "scikit-learn: neg_mean_absolute_error",
    ),
    Suspicion(
        "direction: school marks",
        "directions.looks_like_school_marks",
        "school marks",
        Kind("Note 1 to 6", marks, 40),
        "German and Swiss marks have opposite directions",
    ),
    Suspicion(
        "ranks of 0",
        "comparability.direction_by_value_errors",
        "nothing was found",
        Kind("ranks of the first hit, 0 if there is none", first_hits, 40),
        "TREC: reciprocal rank is 0 where no relevant document was retrieved",
    ),
    Suspicion(
        "forecasts beside the truth",
        "refusals._find_forecasts",
        "are predictions and true values",
        Kind("two forecasts and the actual demand", forecasts, 60),
        "M5: sales and forecasts of each series side by side",
    ),
    Suspicion(
        "direction: signed errors",
        "directions.has_both_signs",
        "values near 0 are best",
        Kind("offsets", signed, 40),
        "forecast bias",
    ),
    Suspicion(
        "labels chosen by outcome",
        "judge_calibration._label_shift",
        "do not look random",
        Kind("labels of the worst answers", lambda rng: judged(rng, chosen=True), 300, 2, _JUDGED),
        "prediction-powered inference needs random labels",
    ),
    Suspicion(
        "models with different mixes",
        "row_keys.composition_differs",
        "models differ in the proportion",
        Kind("another mix", lambda rng: unshared(rng, 0.85), 300),
        "Bickel, Hammel & O'Connell (1975): admissions to graduate schools in Berkeley",
    ),
    Suspicion(
        "too autocorrelated for a test",
        "dependence.add_blocks",
        "too autocorrelated",
        Kind("120 days, AR .95", daily(120, 0.95), 120),
        "M4: daily forecast errors of one series",
    ),
    Suspicion(
        "time stamps",
        "column_profiles._is_time",
        "a time stamp",
        Kind("Unix times", more("created", lambda x: 1.7e9 + 60.0 * np.arange(x.size)), 60),
        "Chatbot Arena: votes with a column tstamp",
    ),
    Suspicion(
        "numbers of rows",
        "vocabulary.looks_like_an_identifier",
        "row identifier",
        Kind("0 to n − 1", more("row", lambda x: np.arange(x.size)), 60),
        "pandas: files with the index of the rows",
    ),
    Suspicion(
        "mean of other columns",
        "column_profiles._is_summary",
        "the mean of other columns",
        Kind("average of two metrics", averaged, 60),
        "Open LLM Leaderboard: Average",
    ),
    Suspicion(
        "maximum of other columns",
        "column_profiles._is_summary",
        "the maximum of other columns",
        Kind("oracle", oracle, 80, 3),
        "ASlib and the SAT Competition: the virtual best solver",
    ),
    Suspicion(
        "copy of another column",
        "column_profiles._is_copy",
        "a copy of another column",
        Kind("1 − f1", more("loss_f1", lambda x: 1 - x), 60),
        "OpenML: accuracy and error rate of one run",
    ),
    Suspicion(
        "parts of a rate",
        "column_profiles._is_part_of_rate",
        "a part of a rate",
        Kind("visitors and orders beside their ratio", rate_parts, 60),
        "A/B tests: daily visitors, conversions and conversion rate",
    ),
    Suspicion(
        "rows selected by their scores",
        "refusals.reject_selected_rows",
        "selected by their scores",
        Kind("each model's 20 worst", worst, 20),
        "reports of speech recognition: each system's worst utterances",
        is_final=True,
    ),
    Suspicion(
        "copies of rows",
        "row_keys._find_duplicates",
        "used once",
        Kind("a file appended to itself", repeated, 40),
        "lm-evaluation-harness: samples of a run that was started twice",
    ),
    Suspicion(
        "constant metric",
        "validate.constant_metric_errors",
        "is constant",
        Kind("all solved", saturated, 40),
        "saturated benchmarks: all models solve all tasks",
        is_final=True,
    ),
    Suspicion(
        "column of another range",
        "long_and_wide.task_columns",
        "another range",
        Kind("Elo beside percentages", lambda rng: leaderboard(rng, speed=True), 8, 12),
        "Open ASR Leaderboard: speed beside error rates",
    ),
    Suspicion(
        "judge on another scale",
        "judge_calibration._scale_mismatch",
        "has a different scale",
        Kind("judge from 1 to 10", scaled, 300, 2, _JUDGED),
        "MT-Bench: a judge from 1 to 10, and votes of people",
    ),
    Suspicion(
        "votes in one position only",
        "preferences._position_imbalance",
        "may prefer this position",
        Kind("one order", arena(fixed=True, count=80), 80),
        "Wang et al. (2023): the order of the answers decides many verdicts",
        is_final=True,
    ),
    Suspicion(
        "the first answer wins",
        "preferences._vote_checks",
        "prefers a position",
        Kind("the first wins .75", arena(0.75), 200),
        "Zheng et al. (2023): judges prefer the first answer",
    ),
)


def read(kind: Kind, frame: pl.DataFrame, command: str = "rank") -> ScoreTable:
    """Read a table with the options of a command."""
    row = BY_NAME[command]
    return read_scores([FrameSource(frame)], row.reading_type(**{**row.needs, **kind.options}))


def outcome(kind: Kind, seed: int) -> tuple[bool, bool, list[str]]:
    """Return whether a table is refused, whether it is misread, and its warnings.

    Notes about the reading count as warnings only for tables with a fault.
    """
    try:
        table = read(kind, kind.table(seed))
    except RiskrankError as error:
        return True, False, [f"{error.problem}; {error.found}"]
    blocks = (table.cluster_names or ("",))[0].startswith("block")
    misread = (len(table.models), len(table.samples)) != (kind.models, kind.samples) or blocks
    kept = [text for text in table.warnings if kind not in BENIGN or warning_kind(text) != DESIGN]
    return False, misread, kept


def suspicion_rows(kind: Kind, seeds: Sequence[int]) -> list[list[float]]:
    """Return for each table whether it is refused or misread, and which suspicions gave a warning."""
    rows = []
    for seed in seeds:
        refused, misread, messages = outcome(kind, seed)
        text = "\n".join(messages)
        spoke = [bool(re.search(suspicion.says, text)) for suspicion in SUSPICIONS]
        rows.append([float(value) for value in (refused, misread, *spoke)])
    return rows


def dependent(sd: float, column: str, repeats: int, samples: int = 60) -> Callable[[Rng], pl.DataFrame]:
    """Return a generator of equal models; each value of a column favours one of them on all samples."""

    def draw(rng: Rng) -> pl.DataFrame:
        shifts = sd * rng.normal(size=(2, 1, repeats))
        return rows_of(scores_of(rng, 2, samples, repeats) + shifts, column)

    return draw


DEPENDENT = (
    Kind("5 seeds, sd 0.3", dependent(0.3, "seed", 5), 60),
    Kind("5 seeds, sd 1", dependent(1.0, "seed", 5), 60),
    Kind("3 seeds, sd 0.5", dependent(0.5, "seed", 3), 60),
    Kind("10 inits, sd 0.1", dependent(0.1, "init", 10), 60),
    Kind("3 raters, sd 0.5", dependent(0.5, "rater", 3), 60),
    Kind("5 raters, sd 0.3", dependent(0.3, "rater", 5), 60),
    Kind("20 documents of 5, correlation .4", spare("document", 20, "d{0}", 0.4), 100),
    Kind("10 documents of 10, correlation .4", spare("document", 10, "d{0}", 0.4), 100),
    Kind("6 documents of 15, correlation .3", spare("document", 6, "d{0}", 0.3, size=90), 90),
    Kind("10 trials, independent", trials(20, 10), 20),
    Kind("3 trials, independent, 0/1", trials(100, 3, binary=True), 100),
)


def claim_rows(kind: Kind, seeds: Sequence[int]) -> list[list[float]]:
    """Return for each table of equal models: refusal, false winner, and false pass of either claim."""
    rows = []
    for seed in seeds:
        frame = kind.table(seed)
        try:
            wins = any(row.wins for row in rr.rank(frame, resamples=1000).rows)
            claims = [rr.gate(frame, better=pair).rows[0].verdict for pair in ("b0:b1", "b1:b0")]
        except RiskrankError:
            rows.append([1.0, 0.0, 0.0])
            continue
        rows.append([0.0, float(wins), claims.count("pass") / 2])
    return rows
