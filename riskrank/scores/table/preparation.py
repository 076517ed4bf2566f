"""What happens to a table before its columns get their roles: named by paths, chosen, reshaped, joined."""

from collections.abc import Sequence

from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.layout import FOLDERS, Warned
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES, INDEX
from riskrank.scores.table.columns import OF_SAMPLES, Named, named_columns, named_roles, no_column
from riskrank.scores.table.designs import columns_of_folds
from riskrank.scores.table.model_properties import named_in, of_models


def prepared(sources: Sequence[Source], named: Named, options: ReadOptions) -> list[tuple[Source, Named]]:
    """Apply `where`, `sql`, joined columns and `matrix` in this order.

    Parameters
    ----------
    sources : sequence of Source
    named : mapping of str to str
        Columns that were named, by their roles.
    options : ReadOptions

    Returns
    -------
    list of (Source, mapping of str to str)
        Files of which a row is left, with the columns that are named in each: a matrix has become a long
        table with its own, and a file of models beside those of samples has only some.

    Raises
    ------
    InputError
        If a condition or query fails, or leaves nothing.
    UsageError
        If a query asks for no rows.
    """
    found = chosen(sources, options, of_models(sources, named, options))
    owns = named_in(found, named, options)
    joined = [_with_joined_columns(*one) for one in zip(found, owns, strict=True)]
    if options.matrix is None:
        return [*zip(joined, owns, strict=True)]
    own = {role: role for role in ("task", "cluster", "time", "noise") if role in named}
    return [(_matrix(source, options.matrix, named, options.models), own) for source in joined]


def chosen(sources: Sequence[Source], options: ReadOptions, beside: Sequence[Source] = ()) -> list[Source]:
    """The rows that `where` and `sql` ask for; files `beside` may stay whole."""
    found = list(sources)
    if options.where is not None or options.sql is not None:
        from riskrank.scores.files import query
    if options.where is not None:
        found = query.where(found, options.where, beside=beside)
    if options.sql is not None:
        # Databases and workbooks hold several tables and have answered when they were opened.
        found = [source if source.queried else query.select(source, options.sql) for source in found]
    return found


def lacks_a_role(sources: Sequence[Source], options: ReadOptions) -> bool:
    """Whether something has to be told by names and contents of columns."""
    named = named_roles(options)
    return INDEX in named.values() or any(lacks(source, named, options) for source in sources)


def lacks(source: Source, named: Named, options: ReadOptions) -> bool:
    """Whether a file has no column for a role that is needed."""
    roles = named_columns(source, named, DEFAULT_ROLE_NAMES)
    if options.matrix is not None and "model" in named:  # a row is a model, a column a sample
        return False
    needed = set() if options.sample_optional else {"sample"}
    if options.matrix is None:
        needed |= set() if options.wide else {"metric", "score"}
        needed |= set() if source.model_label is not None else {"model"}
    if "sample" not in roles and columns_of_folds([source], named):
        needed -= {"sample"}
    return not needed <= roles.keys()


def named_by_paths(source: Source, named: Named) -> Source:
    """A folder of a folder a model and a file a task, with columns of both; another source as it is.

    Only where nothing else names the models. If it is a folder a task, the files tell: those of one task have
    as many rows, whichever model they are of.
    """
    if not source.of_parts or source.folder_columns or source.model_label is not None:
        return source
    if {"model", "task"} & {*source.columns, *named}:
        return source
    from riskrank.scores.files.data_sets import DataSetSource
    from riskrank.scores.files.paths import differing
    from riskrank.scores.table.suggestions import inputs_written, namings

    assert isinstance(source, DataSetSource)
    places, ways, roles = differing(source.paths), namings(source.paths), ("model", "task")
    if len(places) != 2 or len(ways) < 2:
        return source
    inputs = [template for template, _ in ways[:2]]
    if [_alike(names, source.lengths) for names in places] == [True, False]:
        roles, inputs = ("task", "model"), inputs[::-1]
    outer, inner = roles
    found = source.with_keys({outer: places[0], inner: places[1]})
    told = (
        f"{source.label}: folders name the {outer}s and files the {inner}s, as in "
        f"{inputs_written(inputs[0])}; if it is the other way round: {inputs_written(inputs[1])}"
    )
    found.notes = (Warned(told, FOLDERS),)
    return found


def _alike(names: Sequence[str], lengths: Sequence[int]) -> bool:
    """Whether parts of one name have as many rows as each other."""
    return len(set(zip(names, lengths, strict=True))) == len(set(names))


def _matrix(source: Source, metric: str, named: Named, models: Sequence[str]) -> Source:
    from riskrank.scores.table.matrix import MatrixSource

    # A column that happens to be called cluster has to be named: it is not among those looked for.
    of_sample = named_columns(source, named, OF_SAMPLES[:-1])
    if "model" in named:  # a row is a model, and a column a sample
        of_sample.pop("sample", None)
    # Under a label the models are called otherwise than their columns; they are selected later.
    return MatrixSource(source, metric, of_sample, models if source.model_label is None else ())


def _with_joined_columns(source: Source, named: Named) -> Source:
    """Let a role be several columns, ``sample=name+prompt``, where no column is called like that.

    A role that was not named has the column of its own name.

    Raises
    ------
    InputError
        If columns that were named are not there, or a score is to be joined.
    """
    joined: dict[str, tuple[str, ...]] = {}
    for role, column in named.items():
        if column in source.columns:
            continue
        parts = tuple(part.strip() for part in column.split("+"))
        missing = [part for part in parts if part not in source.columns]
        if missing or role == "score":  # scores are added by a query, not joined
            some = 0 < len(missing) < len(parts)
            raise no_column(source, role, parts if some else [column], missing[0] if some else column)
        joined[column] = parts
    if not joined:
        return source
    from riskrank.scores.files.derived import JoinedSource

    others = [named.get(role, role) for role in dict.fromkeys((*DEFAULT_ROLE_NAMES, *named))]
    return JoinedSource(source, joined, others=others)
