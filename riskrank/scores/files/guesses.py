"""What columns probably are, from their names and contents: for hints and warnings, never taken silently."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Roles whose column is found where it is called like them.
FOUND_BY_NAME = ("model", "sample", "metric", "score", "draw", "task")

# What people call these columns; never taken silently.
_USUAL_NAMES = {
    "model": """model model_name model_id models system system_id method algorithm algo framework strategy llm
        classifier learner estimator engine agent submission team""",
    "sample": """sample sample_id samples doc_id docid doc document id item item_id example example_id
        instance instance_id question question_id prompt prompt_id case task dataset query qid input""",
    "metric": "metric metric_name metrics measure measurement criterion criteria scorer evaluator kpi",
    "score": "score scores value val values result metric_value measurement estimate y mean average",
    "model_a": "model_a modela model_1 model1 first left answer_a assistant_a system_a a",
    "model_b": "model_b modelb model_2 model2 second right answer_b assistant_b system_b b",
    "verdict": "verdict winner judgement judgment preference outcome decision label choice result",
}

_TELLING = frozenset(" ".join(_USUAL_NAMES.values()).split())

# Words for one of several runs of the same thing: its scores are draws of one sample.
RUN = _set(
    "run runs seed seeds draw draws trial trials repeat repeats repetition rep epoch epochs attempt "
    "iteration iter replicate fold folds sample_run try"
)
# Words for who or what gave a score: its scores are metrics of their own.
JUDGE = _set("judge judges annotator rater grader scorer evaluator filter reviewer assessor")
# Words for what numbers samples anew: a name in it is another sample than the same name elsewhere.
# Words for what several samples are about, or come from, so that they are no independent ones.
BELONGING = frozenset(
    (
        *("conversation", "dialog", "dialogue", "session", "thread", "document", "doc", "article", "passage"),
        *("patient", "subject", "user", "customer", "participant", "repo", "repository", "video"),
    )
)

WHOLE = _set("task tasks dataset subject category subset benchmark language lang domain topic split")
# Words for how a model was run: its few values are settings, even if they are fractions.
SETTING = _set("temperature temp top penalty threshold setting config parameter parameters alpha beta rate")
# Words for what names, numbers or dates a row; as a metric it would be nonsense.
_IDENTIFIER = _set(
    "id ids uid uuid guid idx index row rownum number no nr key hash seed fold run draw trial epoch "
    "repeat repetition timestamp timestamps date datetime created year month day count counts version"
)
_SAMPLE = _set(
    "name sample doc document item example instance question prompt case task dataset query qid input id"
)
# Words for when something was: "submission_date" names no submission.
_TIME = _set("date datetime time timestamp created updated year month day")
# Words for how far scores lie apart, how sure a mean is, or of how many it is one.
_SPREAD = _set("std sd stdev stddev se sem stderr ci variance n")
# Fewer whole numbers may be all different, or in order, by chance.
_FEWEST_ROWS = 10
# Epoch seconds of this century and beyond, up to nanoseconds.
_OLDEST_TIME = 9e8
# A further column belongs to the name of a sample if it makes at least this many times more of them.
_MORE = 1.5


def words(name: str) -> set[str]:
    """Words of a column's name, in lower case."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return set(re.findall(r"[a-z]+", split.casefold()))


def numbers_runs(name: str) -> bool:
    """Whether a column's name says that it numbers runs."""
    return bool(words(name) & RUN)


def sounds_like_a_role(name: str) -> bool:
    """Whether a column's name, or a word of it, is usual for any role."""
    return name.casefold() in _TELLING or bool(words(name) & _TELLING)


def may_name_samples(name: str) -> bool:
    """Whether a column's name has a word that samples go by."""
    return bool(words(name) & _SAMPLE) and not numbers_runs(name)


def typed(values: pl.Series) -> pl.Series:
    """Whole numbers as integers, others as floats, whatever they were written as; text stays."""
    try:
        found = values.cast(pl.Float64) if values.dtype == pl.String or values.dtype.is_decimal() else values
    except pl.exceptions.PolarsError:
        return values
    if not found.dtype.is_float():
        return found
    filled = found.drop_nulls().drop_nans()
    if (
        not filled.is_finite().all()
        or not (filled == filled.round()).all()
        or (filled.abs() >= 2.0**62).any()
    ):
        return found
    return found.fill_nan(None).cast(pl.Int64)


def looks_like_an_identifier(name: str, values: pl.Series, *, whole_name: bool = False) -> bool:
    """Whether a numeric column names, numbers or dates its rows rather than scoring them.

    By a word of its name (by all of them, with ``whole_name``), or by whole numbers that are all different:
    in order, or times.
    """
    filled = typed(values).drop_nulls()
    if not filled.dtype.is_integer() or filled.len() < 2:
        return False
    if words(name) & _IDENTIFIER and (not whole_name or words(name) <= _IDENTIFIER):
        return True
    if filled.len() < _FEWEST_ROWS or filled.n_unique() < filled.len():
        return False
    low, high = int(filled.min()), int(filled.max())  # type: ignore[arg-type]
    return high - low == filled.len() - 1 or low > _OLDEST_TIME


def synonym(role: str, candidates: Sequence[str]) -> str | None:
    """The candidate whose name, or a word of whose name, is usual for the role."""
    folded = {column.casefold(): column for column in reversed(candidates)}
    usual = _USUAL_NAMES[role].split()
    whole = next((folded[name] for name in usual if name in folded), None)
    if whole is not None:
        return whole
    named = [column for column in candidates if role == "sample" or not words(column) & _TIME]
    by_word = {word: column for column in reversed(named) for word in re.findall("[a-z]+", column.casefold())}
    return next((by_word[name] for name in usual if name in by_word), None)


def names_something(name: str) -> bool:
    """Whether a column may name a model: one that says when something was does not."""
    return not words(name) & _TIME


def is_spread(name: str) -> bool:
    """Whether a column's name says that it holds the spread or number of scores, not scores."""
    return bool(words(name) & _SPREAD)


def sample_columns(frame: pl.DataFrame, keys: Sequence[str], candidates: Sequence[str]) -> tuple[str, ...]:
    """Columns that together seem to name the sample, at most two, in the order of the file.

    Parameters
    ----------
    frame : DataFrame
    keys : sequence of str
        Columns that tell rows of one sample apart: of the model, of the metric.
    candidates : sequence of str
        Columns that have no role yet.
    """
    named = [
        name for name in candidates if not typed(frame[name]).dtype.is_float() and frame[name].n_unique() > 1
    ]
    chosen: list[str] = []
    found = _groups(frame, keys)
    while named and len(chosen) < 2:
        sizes = [_groups(frame, [*keys, *chosen, name]) for name in named]
        best = max(range(len(named)), key=sizes.__getitem__)
        if sizes[best] < _MORE * found or found == frame.height:
            break
        chosen.append(named.pop(best))
        found = sizes[best]
    return tuple(name for name in frame.columns if name in chosen)


def unique_with(frame: pl.DataFrame, candidates: Sequence[str], others: Sequence[str]) -> str | None:
    """First candidate that has several values and, with the others, tells all rows apart."""
    for name in candidates:
        if frame[name].n_unique() > 1 and _groups(frame, [name, *others]) == frame.height:
            return name
    return None


def _groups(frame: pl.DataFrame, names: Sequence[str]) -> int:
    return frame.select(names).n_unique() if names else 1
