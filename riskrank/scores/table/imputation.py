"""Imputation of missing scores by the worst or best possible score within declared bounds (method §11)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, counted, listing, option
from riskrank.options.baseline import GateReading
from riskrank.scores.files import parsing
from riskrank.scores.layouts.layout import COPIES, RERUNS, WarningText, warning_kind
from riskrank.scores.names.directions import looks_like_an_amount
from riskrank.scores.table.metric_specs import MetricSpec, bounds_hint, likely_bounds_line
from riskrank.scores.table.rows import require_comparable, require_repeats
from riskrank.scores.table.scores import DROPPED, IMPUTED, NEGLIGIBLE, Scores, absent_cells
from riskrank.scores.table.typed_rows import categories

# Values of `missing` that impute.
FILL_RULES = ("auto", "worst", "bounds")
# Values of `missing` that impute both the worst and the best score.
BOUNDING_RULES = ("auto", "bounds")


# Samples with more scores than this quantile of their number do not set how many are usual.
_USUAL = 0.95


def drop_reruns(scores: Scores) -> Scores:
    """Exclude copies of rows, and rows without a score that were run again.

    A row was run again if another row has a score of the same attempt. Without numbers of attempts, a sample
    has surplus rows if it has more of them than the usual number of scores.
    """
    keys = ["model", "sample", "metric"]
    if any(warning_kind(note) == COPIES for note in scores.notes.warnings):
        return scores.filter(pl.struct(keys).is_first_distinct())
    blank = np.isin(scores.states, (parsing.MISSING, parsing.NOT_A_NUMBER))
    numbered, repeats = scores.notes.draw_column, scores.options.repeats
    rules = ("auto", "error", *["drop"] * (repeats == "error"))  # other rules state what failures mean
    if not blank.any() or scores.options.missing not in rules or scores.has_role("noise"):
        return scores
    rows = scores.frame.select(pl.col(*keys, "row", "draw").to_physical(), blank=pl.Series(blank))
    scored, again = (~pl.col("blank")).sum().over(keys), pl.col("again")
    same = (~pl.col("blank")).any().over([*keys, *["draw"] * numbered])
    rows = rows.with_columns(again=pl.col("blank") & same & (numbered or repeats == "error"), scored=scored)
    if repeats in ("draws", "mean"):  # the worst and the best of several attempts depend on failures
        usual = rows.unique(keys).group_by("model", "metric").agg(pl.col("scored").quantile(_USUAL, "higher"))
        usual = usual.group_by("metric").agg(usual=pl.col("scored").max())
        rows = rows.join(usual, on="metric", maintain_order="left")
        order = (pl.col("blank") & ~again).cum_sum().over(keys)
        surplus = (~again).sum().over(keys) - pl.col("usual")
        rows = rows.with_columns(again=again | (pl.col("blank") & (order <= surplus)))
    if repeats == "draws" and len(scores.metrics) > 1 and scores.has_role("draw"):
        # An attempt that has a score on another metric remains, as scores of one attempt are linked.
        rows = rows.with_columns(again=again & again.all().over("model", "sample", "draw"))
    if not rows["again"].any():
        return scores
    counts = rows.filter(again).group_by("model").agg(pl.col("row").n_unique()).sort("model").iter_rows()
    texts = (f"{counted(number, 'row')} of {scores.models[model]}" for model, number in counts)
    note = WarningText(f"reruns: {listing(texts, 4)} had no score and were rerun; the rerun counts", RERUNS)
    return scores.filter(~rows["again"].to_numpy()).with_warnings(note)


def drop_unbounded(scores: Scores, specs: Sequence[MetricSpec]) -> tuple[Scores, dict[str, str]]:
    """Exclude samples with a missing score on a metric without bounds, separately for each metric.

    Returns
    -------
    scores : Scores
    unbounded : dict of str to str
        Metrics of which a model lacks more than a negligible proportion of the scores, with their likely
        bounds as a TOML line, which may be empty.
    """
    blank, absent = _missing_cells(scores)
    model, sample, metric = (scores.codes(role) for role in ("model", "sample", "metric"))
    models = np.concatenate([model[blank], absent[:, 0]])
    samples = np.concatenate([sample[blank], absent[:, 1]])
    metrics = np.concatenate([metric[blank], absent[:, 2]])
    keep, unbounded = np.ones(blank.size, dtype=bool), dict[str, str]()
    stride = len(scores.samples) if scores.options.unpaired else 0  # unpaired samples belong to one model
    for code in np.unique(metrics).tolist():
        bounds = _score_bounds(scores, specs[code])
        if bounds is not None and (bounds[0] > 0 or specs[code].transform != "neg_log"):
            continue
        gaps, rows = metrics == code, metric == code
        lost = np.bincount(models[gaps], minlength=len(scores.models))
        total = np.bincount(model[rows & ~blank], minlength=len(scores.models)) + lost
        if (lost > NEGLIGIBLE * total).any():
            name = specs[code].name
            unbounded[name] = likely_bounds_line(name, _valid_scores(scores, specs[code]))
        lacking = np.unique(models[gaps] * stride + samples[gaps])
        complete = ~np.isin(model * stride + sample, lacking)
        if not (rows & complete).any():
            require_repeats(scores)
        keep &= ~rows | complete
        reason = f"without a score of {specs[code].name}, which has no bounds"
        scores = scores.with_warnings(f"{DROPPED}{counted(lacking.size, 'sample')} {reason}")
    return scores if keep.all() else scores.filter(keep), unbounded


def fill_missing(scores: Scores, specs: Sequence[MetricSpec], *, best: bool = False) -> Scores:
    """Impute missing scores by the worst or best possible score, or by the scores of a named model.

    A score is missing if a row has no valid score. If models share their samples, a score is also missing if
    only other models have a row for the same sample and metric.

    Parameters
    ----------
    scores : Scores
        Scores as read from the files.
    specs : sequence of MetricSpec
        One specification per metric.
    best : bool
        If True, impute the best possible score; otherwise the worst.

    Returns
    -------
    Scores
        Complete scores. The rows are the same for both values of `best`.

    Raises
    ------
    InputError
        If a model has no score at all on a metric, the models share less than half of their samples, or
        an incomplete metric has no declared bounds.
    """
    blank, absent = _missing_cells(scores)
    if not blank.any() and not len(absent):
        return scores
    if scores.options.missing in FILL_RULES:
        require_comparable(scores)
        missing = np.bincount(scores.codes("metric")[blank], minlength=len(specs))
        missing += np.bincount(absent[:, 2], minlength=len(specs))
        by_metric = np.full(len(specs), np.nan)
        for code in np.flatnonzero(missing).tolist():
            spec, bounds = specs[code], _score_bounds(scores, specs[code])
            # −log swaps the bounds before the direction applies.
            value = bounds and bounds[((spec.sign > 0) == best) != (spec.transform == "neg_log")]
            if value is None or (spec.transform == "neg_log" and value <= 0):
                raise _unknown_bounds_error(scores, spec, int(missing[code]), _valid_scores(scores, spec))
            by_metric[code] = value
        fills, added = by_metric[scores.codes("metric")], by_metric[absent[:, 2]]
    else:
        fills, added = _scores_of_model(scores, blank, absent)
        count = counted(int(blank.sum()) + len(absent), "missing score")
        scores = scores.with_warnings(f"{count} replaced by the scores of {scores.options.missing}")
    states = scores.states.copy()
    states[blank] = parsing.VALID
    state = pl.Series(states) if states.any() else pl.repeat(None, len(states), dtype=pl.Null, eager=True)
    values = pl.Series(np.where(blank, fills, scores.values))
    columns = {"score": values, "state": state, IMPUTED: pl.Series(blank)}
    complete = replace(scores, frame=scores.frame.with_columns(**columns))
    return _append_cells(complete, absent, added) if len(absent) else complete


def _scores_of_model(scores: Scores, blank: Booleans, absent: Integers) -> tuple[Floats, Floats]:
    """Return the scores of a named model that replace missing scores of other models.

    A score is the mean of the named model's scores on the same sample and metric. The parameters are the
    arrays that `_missing_cells` returns.

    Returns
    -------
    fills : ndarray, shape (rows,)
        Replacement for each row, missing or not.
    added : ndarray, shape (n,)
        Score of each cell in `absent`, which has no row.

    Raises
    ------
    InputError
        If that model lacks a score that another model needs.
    """
    model, width = scores.options.missing, len(scores.metrics)
    key = scores.codes("sample") * width + scores.codes("metric")
    valid = ~scores.invalid_mask() & (scores.codes("model") == scores.models.index(model))
    n = len(scores.samples) * width
    with np.errstate(invalid="ignore"):
        means = np.bincount(key[valid], scores.values[valid], n) / np.bincount(key[valid], minlength=n)
    fills, added = means[key], means[absent[:, 1] * width + absent[:, 2]]
    if lacking := int(np.isnan(fills[blank]).sum() + np.isnan(added).sum()):
        problem = f"{option('missing', model)}: this model lacks scores that other models need"
        detail = f"no score of {model} for {counted(lacking, 'missing score')}"
        hint = f"name a model that has all scores, or use {option('missing', 'worst')}"
        raise InputError(problem, found=detail, hint=hint)
    return fills, added


def _missing_cells(scores: Scores) -> tuple[Booleans, Integers]:
    """Find the rows without a score, and the combinations of model, sample and metric without a row.

    Returns
    -------
    blank : ndarray of bool, shape (rows,)
        True if the row has no score.
    absent : ndarray of int64, shape (n, 3)
        Model, sample and metric of each cell without a row; see `absent_cells`.
    """
    blank = np.isin(scores.states, (parsing.MISSING, parsing.NOT_A_NUMBER))
    return blank, np.empty((0, 3), dtype=np.int64) if scores.options.unpaired else absent_cells(scores)


def _valid_scores(scores: Scores, spec: MetricSpec) -> Floats:
    """Return the valid scores on a metric, in original units."""
    of_metric = scores.codes("metric") == scores.metrics.index(spec.name)
    observed: Floats = scores.values[of_metric & ~scores.invalid_mask()]
    return observed


def _score_bounds(scores: Scores, spec: MetricSpec) -> tuple[float, float] | None:
    """Return the lowest and highest possible score on a metric, in original units.

    Return None if the bounds are unknown.
    """
    bounds, observed = spec.bounds or scores.notes.bounds.get(spec.name), _valid_scores(scores, spec)
    # Scores of 0 and 1 are passes and failures, unless the name of the metric suggests an amount.
    is_pass_fail = not looks_like_an_amount(spec.name) and np.isin(observed, (0.0, 1.0)).all()
    if bounds is None and isinstance(scores.options, GateReading) and is_pass_fail:
        bounds = (0.0, 1.0)
    # Bounds from the file itself only count if all scores respect them.
    if bounds is None or not observed.size or observed.min() < bounds[0] or observed.max() > bounds[1]:
        return None
    return bounds


def _unknown_bounds_error(scores: Scores, spec: MetricSpec, missing: int, values: Floats) -> InputError:
    """Return the error for an incomplete metric without usable bounds.

    `missing` is the number of missing scores, and `values` are the valid ones.
    """
    rule = scores.options.missing
    summary = f"{counted(missing, 'score')} of {spec.name} missing"
    needs = "the worst possible score" if rule == "worst" else "the worst and the best possible score"
    reason = f"{spec.name} has no declared bounds"
    if spec.transform == "neg_log" and spec.bounds is not None:
        reason = f"−log of the bounds of {spec.name} is infinite"
    # Counts may happen to be 0 and 1. Only the user knows that nothing else is possible (method §11).
    is_01 = bool(np.isin(values, (0.0, 1.0)).all())
    bounds = "" if scores.options.metrics_file else likely_bounds_line(spec.name, values)
    return InputError(
        f"{option('missing', rule)} needs {needs}, but {reason}",
        found=f"{summary}; the others are "
        f"{'all 0 or 1' if is_01 else f'{values.min():g} to {values.max():g}'}, but may not reach the bounds",
        hint="if no other scores are possible, copy the line"
        if bounds
        else bounds_hint(spec.name, file=scores.options.metrics_file),
        suggestions=[("", {"metrics_file": bounds})] if bounds else [],
    )


def _append_cells(scores: Scores, absent: Integers, fills: Floats) -> Scores:
    """Append rows with imputed scores, one for each absent row.

    Parameters
    ----------
    scores : Scores
    absent : ndarray of int64, shape (n, 3)
        Model, sample and metric of each missing row.
    fills : ndarray, shape (n,)
        Score to impute in each missing row.
    """
    keys, frame = ["model", "sample", "metric"], scores.frame
    cells = pl.DataFrame(absent, schema=keys).with_columns(fill=fills)
    cells = cells.group_by(keys, maintain_order=True).agg(pl.len().alias("size"), pl.first("fill"))
    source = _absent_repeats(scores, cells, keys)
    added = frame.select(pl.all().gather(source["at"])).with_columns(
        *(categories(frame[key]).cast(frame.schema[key]).gather(source[key]).alias(key) for key in keys[::2]),
        draw=frame["draw"].gather(source["named"]),
        score=source["fill"],
        **{IMPUTED: pl.lit(True)},
    )
    if scores.has_role("state"):
        added = added.with_columns(state=pl.lit(parsing.VALID, dtype=frame.schema["state"]))
    return replace(scores, frame=pl.concat([frame, added.select(frame.columns)]))


def _absent_repeats(scores: Scores, cells: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return one row for each absent row, with rows of the frame from which it takes its other columns.

    The column `at` is a row of the same sample, and `named` a row with the name of the repeat. The name is
    one that the model uses on this sample for other metrics, or else on other samples, or else one that
    other models use.
    """
    run = "draw" if scores.has_role("draw") else "row"
    rows = scores.frame.select(run=pl.col(run).to_physical()).with_row_index("at")
    rows = rows.with_columns(
        pl.col("at").alias("named"), **{key: pl.Series(scores.codes(key)) for key in keys}
    )
    of_sample, of_others = (
        cells.join(rows.drop(other), on=[*{*keys} - {other}], maintain_order="left_right")
        for other in ("metric", "model")
    )
    names = rows.group_by("model", "run", maintain_order=True).agg(
        pl.first("named"), n=pl.col("sample").n_unique()
    )
    most = int(rows.group_by(keys).len()["len"].max())  # type: ignore[arg-type]  # there are rows
    names = names.filter(pl.col("n") > 1).sort("n", descending=True, maintain_order=True)
    names = names.group_by("model", maintain_order=True).head(most if run == "draw" else 0)
    first = rows.group_by("sample").agg(pl.first("at"))
    of_model = cells.join(names, on="model", maintain_order="left_right").join(first, on="sample")
    columns = [*cells.columns, "run", "at", "named"]
    source = pl.concat([part.select(columns) for part in (of_sample, of_model, of_others)])
    source = source.join(rows, on=[*keys, "run"], how="anti", maintain_order="left")
    source = source.unique([*keys, "run"], keep="first", maintain_order=True)
    return source.filter(pl.int_range(pl.len()).over(keys) < pl.col("size"))
