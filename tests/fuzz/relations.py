"""Trials with a known answer: exact fractions, and equivalent tables that must have the same ranking."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random

from tests.fuzz import inputs
from tests.fuzz.oracles import Run, judged
from tests.fuzz.running import in_process, write

Row = dict[str, object]
HEAD = ("model", "sample", "metric", "score")


def _with(rows: list[Row], **changes: Callable) -> list[Row]:
    return [row | {name: change(row[name]) for name, change in changes.items()} for row in rows]


# Changes of the rows and of the direction option that keep the ranks.
RELATIONS: dict[str, Callable[[Random, list[Row]], list[Row]]] = {
    "other order": lambda rng, rows: rng.sample(rows, len(rows)),
    "twice the scores": lambda _, rows: _with(rows, score=lambda score: 2 * score),
    "scores / 1024": lambda _, rows: _with(rows, score=lambda score: score / 1024),
    "other samples": lambda _, rows: _with(rows, sample=lambda name: f"x{name}"),
    "other models": lambda _, rows: _with(rows, model=lambda name: f"x{name}"),
    "lower, negated": lambda _, rows: _with(rows, score=lambda score: -score),
}


def _csv(folder: Path, name: str, rows: list[Row]) -> str:
    lines = [",".join(repr(row[key]) if key == "score" else str(row[key]) for key in HEAD) for row in rows]
    return write(folder, name, "\n".join([",".join(HEAD), *lines]).encode())


def _table(rng: Random) -> list[Row]:
    """Generate rows of scores whose products with powers of two are exact."""
    table = inputs.table(rng, plain=True)
    return _with(table.rows(), score=lambda score: score if abs(score) > 1e-250 else 0.0)


def places(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that equivalent tables have the same ranks."""
    name, rows = rng.choice(sorted(RELATIONS)), _table(rng)
    method = rng.choice(
        (["--no-test"], ["--no-test", "--per-metric"], ["--resamples", "40", "--set", "jobs=1"])
    )
    ranks, wrong = [], []
    for file, changed in (("a.csv", rows), ("b.csv", RELATIONS[name](rng, rows))):
        way = "--lower" if file == "b.csv" and "lower" in name else "--higher"
        run = in_process(["rank", _csv(folder, file, changed), way, "*", *method, "--format", "json"], "json")
        wrong += judged(run)
        ranks.append(run.status or _places(run, "x" if file == "b.csv" and "models" in name else ""))
    return wrong + ([(run, f"other places: {name}")] if ranks[0] != ranks[1] else [])


def _places(run: Run, before: str) -> list[tuple]:
    rows = json.loads(run.stdout)["results"]
    keys = ("method", "metric", "rank", "wins", "losses")
    return sorted(
        (row["model"].removeprefix(before), *(str(row[key]) for key in keys if key in row)) for row in rows
    )


def means(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check the difference of means of a gate against fractions."""
    rows = _table(rng)
    metric = rows[0]["metric"]
    rows = [row for row in rows if row["metric"] == metric]
    a, b = list(dict.fromkeys(row["model"] for row in rows))[:2]
    words = ["--better", f"{a}:{b}", "--higher", "*", "--resamples", "40", "--set", "jobs=1"]
    run = in_process(["gate", _csv(folder, "g.csv", rows), *words, "--format", "json"], "json")
    wrong = judged(run)
    if run.status in (2, 3):
        return wrong
    scores = {model: [Fraction(row["score"]) for row in rows if row["model"] == model] for model in (a, b)}
    new, old = (sum(values, Fraction()) / len(values) for values in scores.values())
    largest = max(abs(score) for values in scores.values() for score in values)
    (row,) = json.loads(run.stdout)["results"]
    if abs(Fraction(row["estimate"]) - (new - old)) > largest / 10**12:
        wrong.append((run, f"difference {row['estimate']!r}, in fractions {float(new - old)!r}"))
    return wrong
