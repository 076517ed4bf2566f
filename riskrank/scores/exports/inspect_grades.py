"""Distinguish the letters that Inspect uses as grades from letters that are answers.

The decision is made once per metric, for all logs. If some models answer A, B and D, then for a model that
always answers C, C is an answer and not the grade "correct".
"""

from collections.abc import Iterable, Mapping
from string import ascii_uppercase

import polars as pl

from riskrank.errors import InputError, counted, listing, option
from riskrank.scores.exports.reader import FILE, GRADE, RowCollector

# Inspect's values of its grades: correct, partially correct, incorrect, no answer.
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "NOANSWER": 0.0}


def score_grades(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Convert grades to scores, and drop texts that are answers.

    Raises
    ------
    InputError
        If a text among grades is not a grade; with `skip_bad` it becomes a row without a score.
    """
    if GRADE not in rows.columns:
        return rows
    graded_metrics = []
    texts = rows.filter(pl.col(GRADE).is_not_null())
    for (metric,), frame in texts.group_by("metric", maintain_order=True):
        counts = dict(frame[GRADE].value_counts().iter_rows())
        if not _are_grades(counts):
            examples = listing((repr(text[:40]) for text in sorted(counts)), 4)
            files = listing(map(collector.path_of, frame[FILE].unique(maintain_order=True)), 3)
            collector.note(f"{metric}: texts such as {examples} in {files} are answers, not grades")
            continue
        graded_metrics.append(metric)
        strays = frame.filter(~pl.col(GRADE).is_in([*GRADES]))
        if strays.height and not collector.options.skip_bad:
            first = strays.row(0, named=True)
            raise InputError(
                f"{collector.path_of(first[FILE])}: sample {first['sample']}: '{metric}' is "
                f"'{first[GRADE][:80]}', not a grade",
                found=f"{counted(strays.height, 'such value')} among {frame.height - strays.height:,} grades "
                + ", ".join(sorted(counts.keys() & GRADES)),
                hint="grades are C, P, I and N: score the samples again; "
                f"{option('skip_bad', True)} ignores other values",
            )
        collector.count(f"{metric}: ignored values that are not grades", strays.height)
        collector.bounds[str(metric)] = (0.0, 1.0)
    remaining = rows.filter(pl.col(GRADE).is_null() | pl.col("metric").is_in(graded_metrics))
    for model in rows["model"].unique(maintain_order=True):
        if model not in remaining["model"]:
            collector.note(f"model '{model}': no scores left")
    grade_score = pl.col(GRADE).replace_strict(GRADES, default=None, return_dtype=pl.Float64)
    return remaining.with_columns(score=pl.coalesce("score", grade_score)).drop(GRADE)


def _are_grades(counts: Mapping[str, int]) -> bool:
    """Return whether texts are grades, allowing for a minority of other values."""
    if counts.keys() <= GRADES.keys():
        return True
    grades = sum(count for text, count in counts.items() if text in GRADES)
    return not _are_choices(counts) and 2 * grades >= sum(counts.values())


def _are_choices(texts: Iterable[str]) -> bool:
    """Return whether texts are the letters of answer choices.

    The letters must be upper case, and include at least half of the alphabet up to the last one.
    """
    letters = set(texts)
    if not letters <= set(ascii_uppercase):
        return False
    return 2 * len(letters) >= ascii_uppercase.index(max(letters)) + 1
