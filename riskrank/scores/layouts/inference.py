"""What kind of table files hold, where nobody said so: the one reading that explains them, or a refusal."""

from collections.abc import Sequence
from dataclasses import replace

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.derived import flattened, with_index
from riskrank.scores.files.limits import BeyondLimitError
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns, columns_of
from riskrank.scores.layouts.layout import READ, Reading, Warned, written
from riskrank.scores.layouts.leaderboard import as_study, of_unfinished
from riskrank.scores.layouts.long_and_wide import as_rows
from riskrank.scores.layouts.matrix import as_matrix
from riskrank.scores.layouts.model_column import models_of
from riskrank.scores.layouts.preferences import as_preferences
from riskrank.scores.layouts.refusals import no_reading, require_scores, too_many_columns
from riskrank.scores.layouts.total_rows import without_totals
from riskrank.scores.names.vocabulary import INDEX, suggests_role, column_for_role
from riskrank.scores.table.columns import named_roles
from riskrank.scores.table.designs import columns_of_folds
from riskrank.scores.table.preparation import chosen, lacks
from riskrank.scores.table.written_numbers import reading_query


def understood(
    given: Sequence[Source], options: ReadOptions
) -> tuple[list[Source], ReadOptions, tuple[str, ...]]:
    """Files and options that leave nothing open: what is lacking is told by names and contents of columns.

    Parameters
    ----------
    given : sequence of Source
        As they were opened.
    options : ReadOptions
        What was asked for, which stays.

    Returns
    -------
    sources : list of Source
    options : ReadOptions
    said : tuple of str
        What was understood, one sentence at most.

    Raises
    ------
    InputError
        If nothing explains the files, or several readings do.
    """
    named = named_roles(options)
    opened = [
        with_index(flattened(source))
        if INDEX in named.values() or (source.rewritten() is None and lacks(source, named, options))
        else source
        for source in given
    ]
    if not all(lacks(source, named, options) for source in opened):
        return opened, options, ()
    seen = chosen(opened, options)
    known = {*seen[0].columns}
    if any(part not in known for name in named.values() if name not in known for part in name.split("+")):
        return opened, options, ()
    columns, totals, asked_where = columns_of(seen, options.metric), "", options.where
    if len(seen) == 1:
        where, totals = without_totals(columns, options.where)
        options = replace(options, where=where)
        columns = columns_of(seen := chosen(opened, options), options.metric) if totals else columns
    require_scores(columns, named, options)
    votes = as_preferences(columns, seen[0], options) if len(seen) == 1 and not options.columns else None
    if votes is not None:
        return [votes[0]], votes[1].options, (Warned(f"Read as {votes[1].said}", READ),)
    study = as_study(columns, options) if not options.columns and options.matrix is None else None
    readings = [study] if study else []
    if not study and all(source.rewritten() is None for source in seen):
        readings = _readings(columns, named | columns_of_folds(seen, named), options)
    if not readings:
        error = no_reading(columns, seen, options)
        if not columns.all_seen and not any(map(suggests_role, columns.names)):
            raise BeyondLimitError(error.what, found=error.found, hint=error.hint, ways=error.ways)
        raise error
    if not (columns.all_seen or options.models or options.metric):
        asked = [replace(one.options, metric=options.metric, models=options.models) for one in readings]
        raise too_many_columns(seen[0], asked, options)
    if len(readings) > 1:
        what = f"{given[0].label}: several ways to read it, and which is right has to be said"
        found = "; or ".join(reading.said for reading in readings[:4])
        ways = [(written(one.options, options), one.options) for one in readings]
        raise InputError(what, found=found, hint="copy the line that is right", ways=ways)
    (reading,) = readings
    metrics = reading.options.metric or reading.options.models or columns.names
    counting = {name: one.counts for name, one in columns.written.items() if name in metrics and one.counts}
    counts = "".join(f"; {told}" for told in dict.fromkeys(counting.values()))
    alone = f"of the rows where {asked_where} alone" if asked_where else ""
    told = "; ".join(filter(None, [reading.said, totals, alone]))
    said = Warned(f"Read as {told}{counts}{of_unfinished(columns, counting)}", READ)
    return opened, reading.options, (said,)


def _readings(columns: Columns, named: dict[str, str], options: ReadOptions) -> list[Reading]:
    """Every way to read a table that explains it; those that names tell alone, where they do."""
    as_numbers = columns.written
    if as_numbers and options.sql is None:
        options = replace(options, sql=reading_query(as_numbers))
    models = [] if options.matrix is not None else models_of(columns, named, options)
    if options.matrix is None and (models or columns.by_file):
        found = [one for model in models or [""] for one in as_rows(columns, model, named, options)]
        # Models mostly have samples in common.
        return sorted(found, key=lambda one: one.options.unpaired)
    alone = column_for_role("model", columns.names)  # of whom nobody was compared
    return as_matrix(columns, named, options) or (as_rows(columns, alone, named, options) if alone else [])
