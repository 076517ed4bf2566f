"""MT-Bench: ratings and pairwise games in FastChat's format."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from riskrank.engine.portfolio.judge_votes import normalise_vote
from riskrank.scores.exports.reader import (
    FILE,
    ExportFile,
    Record,
    RowCollector,
    Rows,
    parse_name,
    row_reader,
)
from riskrank.scores.files.contents import key_matcher

SCORE, WIN_RATE = "score", "win_rate"

# Field names of FastChat, then of its forks.
_FIRST = ("model_1", "model1_id", "model_a", "model1")
_SECOND = ("model_2", "model2_id", "model_b", "model2")
_VALUES = {"a": 1.0, "b": 0.0, "both-good": 0.5, "both-bad": 0.5, "tie": 0.5}
_UNDECIDED = ("", "error", "none", "null")


def _mean_over_opponents(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Average a model's games on each sample over its opponents; repeated pairs count as repeats."""
    if "opponent" not in rows.columns:
        return rows
    pairs = rows.filter(pl.col("opponent").is_not_null())
    repeat = pl.int_range(1, pl.len() + 1).over("model", "sample", "metric", "opponent")
    columns = ["model", "sample", "metric", "question", "turn", "judge"]
    games = pairs.with_columns(repeat=repeat).group_by(*columns, "repeat", maintain_order=True)
    means = games.agg(pl.col("score").mean(), pl.col("prompt").first())
    n_pairs = pairs.select("model", "opponent").n_unique()
    models = pairs["model"].n_unique()
    if n_pairs < models * (models - 1):
        message = f"{n_pairs // 2:,} of {models * (models - 1) // 2:,} pairs of models have judgments"
        collector.note(f"{WIN_RATE}: {message}; win rates refer to the opponents of each model")
    ratings = rows.filter(pl.col("opponent").is_null()).drop("opponent", FILE)
    return pl.concat([ratings, means.drop("repeat")], how="diagonal")


@row_reader(
    key_matcher("question_id"),
    directions={SCORE: "higher", WIN_RATE: "higher"},
    choices={"judge": "judges"},
    postprocess=_mean_over_opponents,
)
def read(file: ExportFile) -> Rows:
    """Yield ratings as `score`, and games between pairs of models as `win_rate`.

    A sample is a question and turn. FastChat writes −1 for a rating that could not be parsed; this is a
    missing score. As in FastChat, a model wins a pair if it wins in both orders of presentation; otherwise
    the pair is tied. A win counts 1 and a tie ½. A model's win rate on a sample is its mean over opponents.
    If all k models met, the score of method §5 "Judge verdicts" is 4 (k − 1)(win rate − ½). The option
    `filter` selects the judge.
    """
    for record in file.records():
        yield from (_read_pair if _is_pair(record) else _read_rating)(file, record)


def _is_pair(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a judgment of a pair of answers."""
    return not {"g1_winner", "winner"}.isdisjoint(record) and not set(_FIRST).isdisjoint(record)


def _judgment_columns(record: Record) -> dict[str, str]:
    """Return the columns that identify a judgment: sample, question, turn, judge and prompt."""
    judge = record.get("judge")
    judge_name, prompt = judge if isinstance(judge, list) and len(judge) == 2 else (judge, "")
    judge_name = parse_name(f"{record.location}, judge", judge_name, default="")
    prompt = parse_name(f"{record.location}, judge's prompt", prompt, default="")
    question = record.get_name("question_id")
    # Old forks do not store the turn, but the judge's prompt for a second turn is called "multi-turn".
    turn = record.get_text("turn") or ("2" if "multi-turn" in prompt else "1")
    return {
        "sample": f"{question}/{turn}",
        "question": question,
        "turn": turn,
        "judge": judge_name,
        "prompt": prompt,
    }


def _read_rating(file: ExportFile, record: Record) -> Rows:
    """Yield the rating of a single answer."""
    model = file.model_name(record.get_name("model", "model_id"))
    yield {"model": model, "metric": SCORE, "score": _rating_score(file, record), **_judgment_columns(record)}


def _rating_score(file: ExportFile, record: Record) -> object:
    """Return the score in a judgment, or None for −1, which marks a rating that could not be parsed."""
    if record.get("score") == -1:
        file.count(f"{SCORE}: judgments of -1, which cannot be read")
        return None
    return record.get("score")


def _read_pair(file: ExportFile, record: Record) -> Rows:
    """Yield the win rates of both models in a pairwise judgment."""
    first, second = record.get_name(*_FIRST), record.get_name(*_SECOND)
    orders = ("g1_winner", "g2_winner") if "g1_winner" in record else ("winner",)
    games = [record.get_text(order) for order in orders]
    if any(game.casefold() in _UNDECIDED for game in games):
        file.count(f"{WIN_RATE}: ignored pairs without a winner in a game")
        return
    results = {_game_score(game, first, second, record.location) for game in games}
    score = results.pop() if len(results) == 1 else 0.5
    columns = {"metric": WIN_RATE, **_judgment_columns(record)}
    yield {"model": first, "score": score, "opponent": second, **columns}
    yield {"model": second, "score": 1 - score, "opponent": first, **columns}


def _game_score(game: str, first: str, second: str, location: str) -> float:
    """Return 1 if the first model won a game, 0 if the second model won, and ½ for a tie."""
    for result, model, keys in ((1.0, first, _FIRST), (0.0, second, _SECOND)):
        if game == model or game in keys:
            return result
    return _VALUES[normalise_vote(game, location=location)]
