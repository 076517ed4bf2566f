"""MT-Bench (FastChat): judgments of single answers, and of pairs judged in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.engine.portfolio.judge_votes import normalise_vote
from riskrank.scores.exports.fields import a_name
from riskrank.scores.exports.gathering import Gathering, files_of, model_of, refuse_rules, tidy
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish, keep_readings
from riskrank.scores.exports.records import first_record, name, records, text

NAME = "mt-bench"
SCORE, WIN_RATE = "score", "win_rate"

# FastChat's names first, then those of its forks.
_FIRST = ("model_1", "model1_id", "model_a", "model1")
_SECOND = ("model_2", "model2_id", "model_b", "model2")
_VALUES = {"a": 1.0, "b": 0.0, "both-good": 0.5, "both-bad": 0.5, "tie": 0.5}
_UNDECIDED = ("", "error", "none", "null")


def recognises(path: Path) -> bool:
    """Whether this is a file of judgments, of single answers or of pairs."""
    record = first_record(path)
    if "question_id" not in record:
        return False
    return _is_pair(record) or {"judge", "model", "score"} <= record.keys()


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read ratings as `score`, and games between pairs as `win_rate`.

    The sample is question and turn. A rating of −1 is one FastChat could not read: no score. A pair is won
    if both orders of presentation say so and tied otherwise, as FastChat counts it; a win is 1, a tie ½,
    and a model's win rate on a sample is its mean over the opponents it met there. With k models that all
    met, method §5 "Judge verdicts" is 4 (k − 1)(win rate − ½). Which judge counts is the rule `filters`.
    """
    refuse_rules(rules, NAME, uses=("filter",))
    gathering = Gathering(rules)
    gathering.direct(SCORE, "higher")
    gathering.direct(WIN_RATE, "higher")

    def use(path: Path, data: bytes) -> None:
        for number, record in records(gathering, path, data):
            (_add_pair if _is_pair(record) else _add_rating)(gathering, path, number, record)

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    kept = keep_readings(gathering.export(), rules, {"judge": "judges"}, where=NAME)
    return finish(_mean_over_opponents(kept))


def _is_pair(record: Mapping[str, Any]) -> bool:
    return not {"g1_winner", "winner"}.isdisjoint(record) and not set(_FIRST).isdisjoint(record)


def _place(path: Path, number: int, record: Mapping[str, Any]) -> dict[str, str]:
    """The columns that say where a judgment belongs."""
    judge = record.get("judge")
    by, prompt = judge if isinstance(judge, list) and len(judge) == 2 else (judge, "")
    by = a_name(f"{path}: entry {number}, judge", by, otherwise="")
    prompt = a_name(f"{path}: entry {number}, judge's prompt", prompt, otherwise="")
    question = name(path, number, record, "question_id")
    # Judgments of old forks have no turn, but the judge's prompt says so where it saw the second one.
    turn = text(path, number, record, "turn") or ("2" if "multi-turn" in prompt else "1")
    return {
        "sample": f"{question}/{turn}",
        "question": question,
        "turn": turn,
        "judge": by,
        "prompt": prompt,
    }


def _add_rating(gathering: Gathering, path: Path, number: int, record: Mapping[str, Any]) -> None:
    model = name(path, number, record, "model", "model_id")
    rating = record.get("score")
    if rating == -1:
        gathering.count(f"{SCORE}: judgments of -1, which could not be read")
    gathering.add(
        model=model_of(path, model, gathering.rules),
        metric=SCORE,
        value=None if rating == -1 else rating,
        **_place(path, number, record),
    )


def _add_pair(gathering: Gathering, path: Path, number: int, record: Mapping[str, Any]) -> None:
    first = name(path, number, record, *_FIRST)
    second = name(path, number, record, *_SECOND)
    orders = ("g1_winner", "g2_winner") if "g1_winner" in record else ("winner",)
    games = [text(path, number, record, order) for order in orders]
    if any(game.casefold() in _UNDECIDED for game in games):
        gathering.count(f"{WIN_RATE}: pairs left out, the judge decided no winner of a game")
        return
    where = f"{path}: entry {number}"
    results = {_result(game, first, second, where) for game in games}
    won = results.pop() if len(results) == 1 else 0.5
    place = _place(path, number, record)
    gathering.add(model=first, metric=WIN_RATE, value=won, opponent=second, **place)
    gathering.add(model=second, metric=WIN_RATE, value=1 - won, opponent=first, **place)


def _result(game: str, first: str, second: str, where: str) -> float:
    """1 if the first model won, 0 if the second one did."""
    for result, model, keys in ((1.0, first, _FIRST), (0.0, second, _SECOND)):
        if game == model or game in keys:
            return result
    return _VALUES[normalise_vote(game, place=where)]


def _mean_over_opponents(export: Export) -> Export:
    """Average the games of a model on a sample; a pair that met twice is a repeat, not two opponents."""
    if "opponent" not in export.rows.columns:
        return export
    pairs = export.rows.filter(pl.col("opponent").is_not_null())
    repeat = pl.int_range(1, pl.len() + 1).over("model", "sample", "metric", "opponent")
    columns = ["model", "sample", "metric", "question", "turn", "judge"]
    means = (
        pairs.with_columns(repeat=repeat)
        .group_by(*columns, "repeat", maintain_order=True)
        .agg(pl.col("score").mean(), pl.col("prompt").first())
    )
    met = pairs.select("model", "opponent").n_unique()
    models = pairs["model"].n_unique()
    notes = export.notes
    if met < models * (models - 1):
        notes += (
            f"{WIN_RATE}: {met // 2:,} of {models * (models - 1) // 2:,} pairs of models met; a win rate is "
            "against the opponents a model met",
        )
    ratings = export.rows.filter(pl.col("opponent").is_null()).drop("opponent")
    rows = pl.concat([ratings, means.drop("repeat")], how="diagonal")
    return replace(export, rows=tidy(rows), notes=notes)
