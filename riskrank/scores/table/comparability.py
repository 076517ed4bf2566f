"""Find scores that cannot be compared: in different units, out of different totals, or of selected reruns."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.query import is_number, quote_column, quote_text
from riskrank.scores.names.directions import has_both_signs, looks_like_an_amount
from riskrank.scores.names.vocabulary import has_word, words
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.scores import Scores, edit_query
from riskrank.scores.table.written_numbers import UNIT_SIZES

# Words in the names of columns that hold units.
_UNIT_WORDS = frozenset({"unit", "units", "uom", "einheit", "einheiten", "unidad", "unite"})
# Words in the names of columns that hold rating scales, and the text of a scale, such as 1-5.
_SCALE_WORDS = frozenset({"scale", "scales", "skala", "schaal", "escala", "echelle", "scala", "skale"})
_SCALE = r"^\s*(\d+)\s*(?:-|–|to|bis|à)\s*(\d+)\s*$"
# Words in the names of columns that hold numbers of trials.
_TRIALS = frozenset({"n", "num", "number", "total", "count", "trials", "attempts", "samples", "tests", "k"})


def incomparable_score_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error for each reason why scores of the same metric cannot be compared."""
    yield from _unit_errors(scores)
    yield from _scale_errors(scores)
    yield from _total_errors(scores)
    yield from _rerun_errors(scores, specs)


def _columns_named(scores: Scores, vocabulary: frozenset[str]) -> Iterator[tuple[str, pl.Series]]:
    """Yield the name and the values, one per score, of each column of a single file that is no metric.

    Only columns with a word of the vocabulary in their name are loaded.
    """
    files = scores.notes.files
    if len(files) > 1 or scores.options.sql:
        return
    (file,) = files
    for name in file.source.columns:
        if name not in scores.metrics and words(name) & vocabulary:
            values = file.source.load([name])[name]
            if values.len() == scores.notes.rows:
                yield name, values.gather(scores.frame["row"])


def _unit_errors(scores: Scores) -> Iterator[InputError]:
    """Yield an error if a column names different units of the same metric."""
    metric = scores.codes("metric")
    for name, values in _columns_named(scores, _UNIT_WORDS):
        if values.dtype != pl.String:
            continue
        units = values.str.strip_chars().str.to_lowercase()
        names = {*units.unique().drop_nulls()}
        sizes = next((sizes for sizes in UNIT_SIZES if len(names) > 1 and names <= sizes.keys()), {})
        for code in range(len(scores.metrics) if sizes else 0):
            used = (metric == code) & values.is_not_null().to_numpy()
            counts = values.filter(used).value_counts(sort=True)
            is_measured = looks_like_an_amount(scores.metrics[code]) or len(scores.metrics) == 1
            if counts.height < 2 or not is_measured:
                continue
            common, *others = counts[name].to_list()
            cases = " ".join(
                f"WHEN {quote_text(unit)} THEN {{0}} * "
                f"{sizes[unit.strip().lower()] / sizes[common.strip().lower()]:.12g}"
                for unit in others
            )
            query = edit_query(scores, used, f"CASE {quote_column(name)} {cases} ELSE {{0}} END")
            problem = f"{scores.file_names()}: {scores.metrics[code]} is in different units"
            detail = f"{name}: {listing(f'{count:,} in {unit}' for unit, count in counts.iter_rows())}"
            hint = f"convert all scores to {common}: {option('sql', query)}"
            yield InputError(problem, found=detail, hint=hint, suggestions=[("", {"sql": query})])


def _scale_errors(scores: Scores) -> Iterator[InputError]:
    """Yield an error if a column names several rating scales.

    If every model is rated on one scale only, the scale cannot be told from the model.
    """
    for name, values in _columns_named(scores, _SCALE_WORDS):
        texts = values.cast(pl.String).rename("scale")
        limits = (
            texts.unique(maintain_order=True)
            .to_frame()
            .with_columns(
                low=pl.col("scale").str.extract(_SCALE, 1).cast(pl.Float64),
                high=pl.col("scale").str.extract(_SCALE, 2).cast(pl.Float64),
            )
        )
        if limits.height < 2 or limits.null_count().sum_horizontal().item():
            continue
        cases = " ".join(
            f"WHEN {quote_text(scale)} THEN ({{0}} - {low:g}) / {high - low:g}"
            for scale, low, high in limits.iter_rows()
        )
        used = np.ones(texts.len(), dtype=bool)
        query = edit_query(scores, used, f"CASE {quote_column(name)} {cases} END")
        per_model = texts.to_frame().group_by(pl.Series("model", scores.codes("model"))).n_unique()
        is_confounded = per_model["scale"].max() == 1
        hint = "rate all models on one scale" if is_confounded else "convert scores to shares of their scale"
        yield InputError(
            f"{scores.file_names()}: the scores are on different scales",
            found=f"{name}: {listing(limits['scale'])}{', one for each model' * is_confounded}",
            hint=f"{hint}: {option('sql', query)}" if not is_confounded else hint,
            suggestions=[] if is_confounded else [("", {"sql": query})],
        )


def _total_errors(scores: Scores) -> Iterator[InputError]:
    """Yield an error if a metric counts successes out of numbers of trials that differ between models.

    Each model has one number of trials, which bounds its scores and is reached at least once in the table.
    """
    counts, model = scores.values, scores.codes("model")
    is_ratio = any("/" in statistic for statistic in scores.options.statistics)
    if len(scores.metrics) > 1 or is_ratio or scores.invalid_mask().any() or (counts % 1).any():
        return
    for name, values in _columns_named(scores, _TRIALS):
        trials = values.cast(pl.Float64, strict=False).to_numpy()
        if np.isnan(trials).any():
            continue
        by_model = [np.unique(trials[model == code]) for code in range(len(scores.models))]
        is_bound = (counts <= trials).all() and (counts == trials).any() and counts.min() >= 0
        if not is_bound or max(map(len, by_model)) > 1 or len({float(n[0]) for n in by_model}) == 1:
            continue
        ratio = option("on", f"sum({scores.metrics[0]})/sum({name})")
        problem = f"{scores.file_names()}: {scores.metrics[0]} counts successes in unequal numbers of trials"
        parts = (f"{n[0]:,.0f} for {label}" for label, n in zip(scores.models, by_model, strict=True))
        hint = f"compare the proportions: {ratio}"
        yield InputError(problem, found=f"{name}: {listing(parts)}", hint=hint, suggestions=[(ratio, None)])


# Minimum number of samples that were rerun, and of samples that passed at once, for a rule to be recognised.
_FEWEST_RERUNS = 5


def _rerun_errors(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error if samples were run again only after a failure, until they passed.

    The last run, the mean and the best of such runs favour the model that was rerun. The first runs do not.
    """
    column, options = scores.notes.files[0].roles.draw, scores.options
    if not scores.has_role("draw") or not column or len(scores.metrics) > 1 or options.sql:
        return
    worst = 0 if specs[0].direction == "higher" else 1
    frame = scores.frame.select("model", "sample", "draw").with_columns(score=pl.Series(scores.values))
    if scores.invalid_mask().any() or not frame["score"].is_in([0.0, 1.0]).all():
        return
    number = pl.col("draw").cast(pl.String).cast(pl.Float64, strict=False)
    runs = frame.with_columns(number=number).sort("number", maintain_order=True)
    failed = pl.col("score") == worst
    units = runs.group_by("model", "sample").agg(
        count=pl.len(),
        first=pl.col("draw").first(),
        earlier=failed.head(pl.len() - 1).all(),
        last=failed.last(),
    )
    rerun = pl.col("count") > 1
    by_model = units.group_by("model", maintain_order=True).agg(
        reruns=rerun.sum(),
        once=rerun.not_().sum(),
        selective=(pl.when(rerun).then("earlier").otherwise(pl.col("last").not_())).all(),
        first=pl.col("first").mode().first().cast(pl.String),
    )
    enough = (pl.col("reruns") >= _FEWEST_RERUNS) & (pl.col("once") >= _FEWEST_RERUNS)
    for row in by_model.filter(enough & pl.col("selective")).head(1).iter_rows(named=True):
        first = row["first"] if all(map(is_number, scores.names("draw"))) else quote_text(row["first"])
        where = f"{quote_column(column)} = {first}"
        where = f"({options.where}) AND {where}" if options.where else where
        yield InputError(
            f"{scores.file_names()}: '{row['model']}' was run again only where it had failed",
            found=f"{row['reruns']:,} samples with several values of {column}, of which all but the last "
            f"failed, and {row['once']:,} samples that passed at once",
            hint="compare the first runs, as reruns of failures favour a model",
            suggestions=[(option("where", where), {"where": where})],
        )


def direction_by_value_errors(scores: Scores, name: str, on_metric: Booleans) -> Iterator[InputError]:
    """Yield an error if neither the lowest nor the highest values of a metric without direction are best.

    Ranks of 0 may mean that nothing was found, and errors with both signs are best near 0. `name` is the
    metric, and `on_metric` a mask of its scores.
    """
    values, lower = scores.values[on_metric], {"lower": (*scores.options.lower, name)}
    if has_word(name, "places") and values.min() == 0 and (values == 1).any():
        reciprocal = edit_query(scores, on_metric, "CASE WHEN {0} > 0 THEN 1.0 / {0} ELSE 0 END")
        changes = {"sql": reciprocal, "higher": (*scores.options.higher, name)}
        yield InputError(
            f"{scores.file_names()}: {name} has ranks of 0, which may mean that nothing was found",
            found=f"{(values == 0).sum():,} of {values.size:,} ranks are 0, of up to {values.max():g}",
            hint=f"reciprocal ranks count 0 as the worst; if 0 is the best, {option('lower', name)}",
            suggestions=[*([] if scores.options.sql else [("", changes)]), ("", lower)],
        )
    if has_word(name, "off") and has_both_signs(values):
        negative = int(np.count_nonzero(values < 0))
        query = {"sql": edit_query(scores, on_metric, "ABS({0})"), **lower}
        yield InputError(
            f"{scores.file_names()}: {name} has positive and negative values, and values near 0 are best",
            found=f"{negative:,} of {values.size:,} values below 0, range {values.min():g} to "
            f"{values.max():g}",
            hint=f"use absolute values; if the smallest values are best, {option('lower', name)}",
            suggestions=[("", query)] if scores.options.sql is None else [],
        )
