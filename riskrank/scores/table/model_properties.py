"""What a model has once, as a price, in a file of its own: it stands beside each of the model's samples."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from riskrank.errors import InputError, did_you_mean, listing, option
from riskrank.options.flags import among_commas
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import DEFAULT_ROLE_NAMES, Assigned, Named, named_columns
from riskrank.scores.table.typed_rows import list_of, united

# What a row beside a sample takes from it; where repeats are draws, one stands beside each of them.
_OF_SAMPLES = ("sample", "task", "cluster", "group", "time", "draw")

_NAME = f"name the column that tells samples apart, {option('columns', 'sample=…')}"


def named_in(sources: Sequence[Source], named: Named, options: ReadOptions) -> list[Named]:
    """Columns that are named in each file: what a row a model beside samples lacks is said of the samples."""
    beside = of_models(sources, named, options)
    return [_own(source, named) if source in beside else named for source in sources]


def of_models(sources: Sequence[Source], named: Named, options: ReadOptions) -> list[Source]:
    """Files of a row a model, where others are of samples."""
    if options.matrix is not None or not options.sample_optional or len(sources) == 1:
        return []
    others = [source for source in sources if not _has_samples(source, named)]
    roles = [named_columns(source, _own(source, named), DEFAULT_ROLE_NAMES) for source in others]
    found = [source for source, own in zip(others, roles, strict=True) if _is_once(source, own, options)]
    return found if len(found) < len(sources) else []


def _has_samples(source: Source, named: Named) -> bool:
    """Whether a file has a column of samples, or a part of one."""
    column = named.get("sample", "sample")
    return bool({"sample", column, *(part.strip() for part in column.split("+"))} & {*source.columns})


def _own(source: Source, named: Named) -> Named:
    """The columns a file has of those that are named."""
    return {role: column for role, column in named.items() if column in source.columns}


def as_they_lie(found: Sequence[tuple[Source, Named]], options: ReadOptions) -> list[ReadOptions]:
    """How each file is read: one row a model and a column a metric beside samples needs no saying."""
    roles = [named_columns(source, own, DEFAULT_ROLE_NAMES) for source, own in found]
    if options.wide or not options.sample_optional or not any("sample" in own for own in roles):
        return [options] * len(found)
    lists = (
        not {"sample", "metric", "score"} & {*own} and _is_once(source, own, options)
        for (source, _), own in zip(found, roles, strict=True)
    )
    return [replace(options, wide=True) if is_list else options for is_list in lists]


def _is_once(source: Source, roles: Named, options: ReadOptions) -> bool:
    """Whether a file has a row a model, or in a long table a model and metric, a few by mistake two."""
    if "model" not in roles:
        return False
    long = not options.wide and {"metric", "score"} <= {*roles}
    rows = source.load([roles[role] for role in (("model", "metric") if long else ("model",))])
    return bool(2 * rows.n_unique() > len(rows))


def beside_samples(read: Assigned, frames: Sequence[pl.DataFrame], options: ReadOptions) -> pl.DataFrame:
    """Rows of all files, those of files without samples beside each sample of their model.

    Parameters
    ----------
    read : sequence of (Source, Roles)
        Files with samples before those without.
    frames : sequence of DataFrame
        Their typed rows.
    options : ReadOptions

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        If a model has a metric twice, or has no samples, or a metric stands in files of both kinds.
    """
    count = sum(roles.sample is not None for _, roles in read)
    if count in (0, len(read)):
        return united(frames)
    scored, beside = united(frames[:count]), [*zip(read[count:], frames[count:], strict=True)]
    _require_once([(source, frame) for (source, _), frame in beside], scored)
    kept = []
    for (source, _), frame in beside:
        # Samples may have gone with a condition that says nothing of prices.
        known = list_of((frame if options.where is None else scored)["model"]).to_list()
        kept.append(frame.filter(pl.col("model").cast(pl.String).is_in([*options.models] or known)))
        _require_known(source, kept[-1], scored)
    return united([scored, _repeated(united(kept), scored, options)])


def _repeated(once: pl.DataFrame, scored: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    """The rows again for each sample of their model."""
    one = ["model", "sample", *(["draw"] if options.repeats == "draws" else [])]
    samples = scored.select("model", *_OF_SAMPLES).unique(one, keep="first", maintain_order=True)
    models = list_of(once["model"]).cast(scored.schema["model"], strict=False)
    once = once.drop(_OF_SAMPLES).with_columns(model=models.gather(once["model"].to_physical()))
    return samples.join(once, on="model", maintain_order="left").select(scored.columns)


def _require_once(beside: Sequence[tuple[Source, pl.DataFrame]], scored: pl.DataFrame) -> None:
    """Refuse two values of a model, which are of samples that nobody named, and a metric of the other files.

    Raises
    ------
    InputError
    """
    names = pl.col("model", "metric").cast(pl.String)
    every = [frame.select(names, file=pl.lit(at)) for at, (_, frame) in enumerate(beside)]
    keys = pl.concat(every)
    also = keys.filter(pl.col("metric").is_in(list_of(scored["metric"]).to_list()))
    if also.height:
        source = beside[also["file"][0]][0]
        what = f"there is no column of samples, and the other files have {also['metric'][0]} by sample"
        raise source.refused(what, f"{_NAME}, or read one file alone")
    again = keys.filter(~pl.struct("model", "metric").is_first_distinct())
    if again.height:
        source = beside[again["file"][0]][0]
        raise InputError(
            f"{source.label}: a second {again['metric'][0]} of model '{again['model'][0]}'",
            found=f"columns: {listing(source.columns, 20)}, and no column of samples",
            hint=f"keep one of them, or leave out a file that is a copy; if they are of samples, {_NAME}",
        )


def _require_known(source: Source, frame: pl.DataFrame, scored: pl.DataFrame) -> None:
    """Refuse a model of which there are no samples.

    Raises
    ------
    InputError
    """
    known = list_of(scored["model"]).to_list()
    strange = [name for name in frame["model"].unique().cast(pl.String).sort() if name not in known]
    if strange:
        named = option("models", among_commas(known))
        otherwise = f"leave out what has no samples, or name the models to compare: {named}"
        hint = did_you_mean(strange[0], known, otherwise=otherwise)
        what = f"{source.label}: no file has samples of {listing(strange, 4)}"
        raise InputError(what, found=f"samples of {listing(known)}", hint=hint)
