"""Check the findings of rankings against the truth and against the figures of the table.

Random tables of many kinds, half of them with equal models, are ranked with default settings. Claims are
compared with 20,000 further samples per model, or with the true means. Counts are recomputed from the table.
Used by ``make calibrate`` and the slow tests.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import ndtr

import riskrank as rr
from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.portfolio.score_tables import ScoreTables

MANY = 20_000
KINDS = ("one", "several", "0/1", "heavy", "suite", "groups", "clusters", "unpaired", "judge")


@dataclass(frozen=True)
class RandomTable:
    """Random table, its options, and the truth about its models.

    ``scores`` maps each metric to large samples, one per model. ``tasks`` contains the true means by model
    and task.
    """

    frame: pl.DataFrame
    options: dict
    equal: bool
    scores: dict[str, list[np.ndarray]]
    means: dict[str, np.ndarray]
    tasks: np.ndarray | None = None


def random_table(kind: str, seed: int) -> RandomTable:
    """Draw a random table of one kind."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    k, equal = int(rng.integers(2, 5)), bool(rng.random() < 0.5)
    metrics = [f"q{at}" for at in range(int(rng.integers(2, 4)))] if kind == "several" else ["q"]
    law = rng.choice(["t", "losses"]) if kind == "heavy" else "normal"
    shift = {m: np.zeros(k) if equal else rng.choice([0, 0.1, 0.3, 0.8], k) for m in metrics}
    spread = {m: np.ones(k) if equal else rng.choice([0.4, 1, 1, 2.5], k) for m in metrics}
    n = int(rng.choice([40, 120, 300]))

    def sample(generator: np.random.Generator, count: int, metric: str) -> list[np.ndarray]:
        shared, values = generator.normal(size=count), []
        for i in range(k):
            noise = generator.normal(size=count)
            if law != "normal":
                noise = generator.standard_t(2.5, count) if law == "t" else -generator.lognormal(0, 1, count)
            value = shared + spread[metric][i] * noise + shift[metric][i]
            values.append((value > 0).astype(float) if kind == "0/1" else value)
        return values

    truth = {m: sample(np.random.default_rng([seed, 1, at]), MANY, m) for at, m in enumerate(metrics)}
    names, options = [f"m{i}" for i in range(k)], {"higher": "*", "jobs": 1}
    if kind == "suite":
        return _suite(rng, k, equal, names, options)
    sizes = [int(rng.choice([15, 40, 150])) for _ in range(k)] if kind == "unpaired" else [n] * k
    rows = []
    for metric in metrics:
        values = sample(rng, max(sizes), metric)
        if kind == "clusters":
            group = np.sort(rng.integers(0, 30, n))
            values = [value + 0.7 * rng.normal(size=30)[group] for value in values]
            many = np.random.default_rng([seed, 2])
            truth[metric] = [value + 0.7 * many.normal(size=MANY) for value in truth[metric]]
        for i, value in enumerate(values):
            scores = value[: sizes[i]] if kind != "unpaired" else sample(rng, sizes[i], metric)[i]
            number = [f"{names[i] if kind == 'unpaired' else ''}{s}" for s in range(sizes[i])]
            rows.append(
                pl.DataFrame({"model": names[i], "sample": number, "metric": metric, "score": scores})
            )
            if kind == "clusters":
                rows[-1] = rows[-1].with_columns(patient=pl.Series(group))
            if kind == "groups":
                rows[-1] = rows[-1].with_columns(half=pl.Series(np.arange(sizes[i]) % 2))
    frame = pl.concat(rows)
    if kind == "clusters":
        options["cluster"] = "patient"
    if kind == "unpaired":
        options["unpaired"] = True
    if kind == "groups":
        options["group_by"] = "half"
    if kind == "judge":
        frame, options = _judged(rng, frame, options)
    means = {m: _mean(law, kind, shift[m], spread[m]) for m in metrics}
    return RandomTable(frame, options, equal, truth, means)


def _mean(law: str, kind: str, shift: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return true means: of a lognormal for losses, or the probability to exceed 0 for binary scores."""
    if kind == "0/1":
        return ndtr(shift / np.sqrt(1 + spread**2))
    return shift - spread * np.exp(0.5) if law == "losses" else shift


def _suite(rng: np.random.Generator, k: int, equal: bool, names: Sequence[str], options: dict) -> RandomTable:
    tasks = int(rng.integers(4, 9))
    effect = np.zeros((k, tasks))
    if not equal:
        effect += rng.choice([0, 0.3, 0.8], (k, 1)) + (rng.random((k, tasks)) < 0.2) * rng.normal(0, 1.5)
    rows, many = [], [[] for _ in range(k)]
    for t in range(tasks):
        size = int(rng.choice([12, 30, 60]))
        shared = rng.normal(size=size)
        for i, name in enumerate(names):
            score = shared + rng.normal(size=size) + effect[i, t]
            ids = [f"t{t}-{s}" for s in range(size)]
            rows.append(pl.DataFrame({"model": name, "sample": ids, "task": f"t{t}", "q": score}))
            many[i].append(rng.normal(0, np.sqrt(2), MANY // tasks) + effect[i, t])
    scores = {"q": [np.concatenate(parts) for parts in many]}
    means = {"q": effect.mean(axis=1)}
    return RandomTable(pl.concat(rows), options | {"wide": True}, equal, scores, means, effect)


def _judged(rng: np.random.Generator, frame: pl.DataFrame, options: dict) -> tuple[pl.DataFrame, dict]:
    """Add human labels on a random subset of the samples, and noisy judge scores on all of them."""
    wide = frame.rename({"score": "people"}).drop("metric")
    wide = wide.with_columns(judge=wide["people"] + pl.Series(0.7 * rng.normal(size=wide.height)))
    samples = wide["sample"].unique(maintain_order=True).to_list()
    if len(samples) < 120:
        return frame, options
    labelled = set(rng.choice(samples, len(samples) // 2, replace=False).tolist())
    wide = wide.with_columns(people=pl.when(pl.col("sample").is_in(labelled)).then("people"))
    return wide, options | {"wide": True, "human": "people", "judge": "judge"}


class Truth:
    """Truth about the models of a random table."""

    def __init__(self, table: RandomTable, level: float) -> None:
        self._table, self._level = table, level
        metrics = list(table.scores)
        values = [np.column_stack([table.scores[m][i] for m in metrics]) for i in range(self.models)]
        tables = ScoreTables.from_arrays(values, [np.arange(MANY) for _ in values], metrics, paired=False)
        column = metrics[0] if len(metrics) == 1 else "P(IC)"
        self.ranked = list(tables.column_scores(column)) if table.tasks is None else table.scores["q"]
        ratios = violation_matrices([np.sort(sample) for sample in self.ranked])[1]
        self.ahead = (ratios.sum(axis=1) - 0.5) / (self.models - 1)

    @property
    def models(self) -> int:
        return len(next(iter(self._table.scores.values())))

    def higher(self, model: int, rival: int, metric: str | None = None) -> bool:
        """Return whether a model's mean exceeds the rival's; combined scores use 20,000 samples."""
        names = list(self._table.means)
        if metric or len(names) == 1:
            means = self._table.means[metric or names[0]]
            return bool(means[model] > means[rival])
        return self._above(model, rival, lambda x: (x.mean(), x.std()), metric)

    def milder(self, model: int, rival: int, metric: str | None = None) -> bool:
        """Return whether the tail mean is not lower than the rival's, within the error of 20,000 samples."""

        def tail(values: np.ndarray) -> tuple[float, float]:
            below = np.minimum(values - np.quantile(values, self._level), 0) / self._level
            return float(tail_value_at_risk(values, self._level)), below.std()

        return self._above(model, rival, tail, metric)

    def _above(self, model: int, rival: int, statistic, metric: str | None) -> bool:
        if self._table.equal:
            return False
        columns = [self._table.scores[metric]] if metric else [self.ranked]
        (first, spread), (second, wide) = (statistic(columns[0][i]) for i in (model, rival))
        return bool(first > second - 4 * np.hypot(spread, wide) / np.sqrt(MANY))

    def better(self, model: int, rival: int) -> bool:
        """Return whether a model is better overall, either by dominance or on every mean."""
        if self._table.equal:
            return False
        means = all(self.higher(model, rival, metric) for metric in self._table.scores)
        return bool(self.ahead[model] <= self.ahead[rival] + 0.02 or means)

    def on_task(self, model: int, rival: int, task: int) -> bool:
        assert self._table.tasks is not None
        return bool(self._table.tasks[model, task] > self._table.tasks[rival, task])


def against_truth(table: RandomTable, result) -> list[str]:
    """Return the findings that contradict the truth, by kind."""
    document = result.document
    tails = document.leaders[next(iter(document.leaders))].study.dominance.estimates.tail_level
    truth, names = Truth(table, tails), list(document.provenance.models)
    # All groups have the same distribution, so reversals between groups are false.
    reversed_ = ["groups"] if "is significantly better than" in document.verdict else []
    return reversed_ + [
        entry.kind
        for entry in document.findings
        if not all(_true(entry, truth, [names.index(name) for name in entry.models], table, names))
    ]


def _true(entry, truth: Truth, models: list[int], table: RandomTable, names: list[str]) -> Iterator[bool]:
    metrics = list(table.scores)
    if entry.kind == "ahead":
        yield all(truth.better(models[0], i) for i in range(truth.models) if i not in models)
    if entry.kind == "higher-mean":
        metric = entry.on if entry.on in metrics else None
        yield all(truth.higher(models[0], i, metric) for i in models[1:])
    if entry.kind == "trade":
        first, rival = models[:2]
        yield any(truth.higher(rival, first, metric) for metric in (None, *metrics))
    if entry.kind == "contradicted":
        first, rival = models
        advantages = [truth.higher(rival, first, m) or truth.milder(rival, first, m) for m in metrics]
        yield any(advantages) or truth.better(rival, first)
    if entry.kind in ("worse-tail", "tail-of-the-first"):
        worse, other = models if entry.answer != "significant" or entry.kind == "worse-tail" else models[::-1]
        yield truth.milder(other, worse)
    if entry.kind == "worse-tail-on-a-metric" and entry.on in metrics:
        yield truth.milder(models[1], models[0], entry.on)
    if entry.kind == "gain":
        of_pair = entry.sentence.partition("ompared with ")[2].partition(";")[0]
        for part in of_pair.split(" but "):
            better, other = models[::-1] if "worse on" in part else models
            listed = re.findall(r"(q\d+) [−\d]", part) if " on " in part else []
            yield all(truth.higher(better, other, metric) for metric in listed)
    if entry.kind == "by-task" and table.tasks is not None:
        for manner, listed in re.findall(r"(better|worse) on \d+ \(([^)]*)\)", entry.sentence):
            better, other = models if manner == "better" else models[::-1]
            yield all(truth.on_task(better, other, int(task)) for task in re.findall(r"t(\d+)", listed))


def against_table(table: RandomTable, result) -> list[str]:
    """Return the findings that contradict the table or the verdict derived from them, by kind."""
    document, errors = result.document, []
    sentences = [entry.sentence for entry in document.findings]
    warned = [f"{line[0].upper()}{line[1:]}." for line in document.provenance.warnings]
    text = " ".join((document.verdict, *document.more, *warned))
    blind = [entry for entry in document.findings if entry.kind == "detection-limit"]  # reported in a caption
    spoken = [entry.sentence for entry in document.findings if entry not in blind]
    spoken = [re.sub(r"^Group \d+: ", "", sentence) for sentence in spoken]  # warnings name all small groups
    errors += ["a sentence from nowhere"] if any(sentence[:-1] not in text for sentence in spoken) else []
    of_all = [entry.figures for entry in blind if entry.on is None and "share" not in entry.figures]
    caption, once = " ".join(repr(result).split()), [figures["once_in"] for figures in of_all]
    errors += (
        ["detection-limit"] if any(f"rarer than 1 in {count:,}" not in caption for count in once) else []
    )
    wide = "people" in table.frame.columns
    plain = table.tasks is None and not wide
    for entry in document.findings:
        if entry.kind in ("gain", "trade") and plain:
            means = table.frame.group_by("model", "metric").agg(pl.col("score").mean()).rows()
            of = {(model, metric): mean for model, metric, mean in means}
            first, other = entry.models[:2]
            limits = [entry.figures[end] for end in ("low", "high") if end in entry.figures]
            metrics = table.frame["metric"].unique().to_list()
            differences = {m: x for m, x in entry.figures.items() if m in metrics}
            wrong = [m for m, x in differences.items() if abs(of[first, m] - of[other, m] - x) > 1e-9]
            before = (lambda m: f"{m}.") if len(metrics) > 1 else lambda _: ""
            wrong += [m for m in differences if abs(of[first, m] - entry.figures[f"{before(m)}mean"]) > 1e-9]
            wrong += [
                m for m in differences if abs(of[other, m] - entry.figures[f"{before(m)}against"]) > 1e-9
            ]
            outside = limits and not all(limits[0] <= x <= limits[1] for x in differences.values())
            errors += [f"{entry.kind}: difference"] if wrong or outside else []
        if "tail" in entry.figures and plain and table.frame["metric"].n_unique() == 1:
            scores = table.frame.filter(model=entry.models[0])["score"].to_numpy()
            tail = float(tail_value_at_risk(scores, entry.figures["level"]))
            errors += [f"{entry.kind}: tail"] if abs(tail - entry.figures["tail"]) > 1e-9 else []
        if entry.kind == "same-scores":
            frames = [table.frame.filter(model=model).drop("model") for model in entry.models]
            errors += [] if all(frame.equals(frames[0]) for frame in frames) else [entry.kind]
        # A test of means may be significant where the dominance test is not.
        if entry.kind == "level" and re.search(
            r"(no test|cannot) separates? .*?them(?! by )", entry.sentence
        ):
            remaining = " ".join(sentence for sentence in sentences if sentence != entry.sentence)
            pair = set(entry.models[:2]) if len(entry.models) == 2 else set()
            remaining = re.sub(r"; m\d+ is better on [^.]*", "", remaining)  # another pair
            match = re.search(r"(better|worse) on (?!every)", remaining) if pair else None
            errors += ["level beside a difference"] if match else []
    return errors


def finding_rows(kind: str, seeds: Sequence[int]) -> list[list[float]]:
    """Return whether any finding contradicts the truth, and whether any contradicts its table, by table."""
    rows = []
    for seed in seeds:
        table = random_table(kind, seed)
        result = rr.rank(table.frame, **table.options)
        rows.append([bool(against_truth(table, result)), bool(against_table(table, result))])
    return rows
