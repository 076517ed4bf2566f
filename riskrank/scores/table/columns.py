"""Which column of a file plays which role: model, sample, metric, score, draw, task, cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from riskrank.errors import InputError, UsageError, did_you_mean, listing, option
from riskrank.options.reading import NO_COLUMN, ReadOptions
from riskrank.options.values import contradict
from riskrank.scores.files.source import Source
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES

# A column that happens to be called cluster must not change the unit of resampling: it has to be named.
ROLES = (*DEFAULT_ROLE_NAMES, "cluster")

# Roles of a matrix, in which every other column of numbers is a model.
OF_SAMPLES = ("sample", "draw", "task", "cluster")

# What was asked and answered, for who shows single cases.
TEXTS = ("input", "output")

# What samples belong to: roles with an option of their own, whose column may be that of groups, too.
_WHOLES = ("task", "cluster")
# Roles that are named by an option of their own alone.
_OPTIONS = {"time": "time", "noise": "noise", "group": "group_by"}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Column of each role in one file; None where the role has no column.

    `values` holds, for wide tables, the columns that are not needed for another role. `pools_tasks` says
    that tasks tell samples apart, and nothing else.
    """

    model: str | None = None
    sample: str | None = None
    metric: str | None = None
    score: str | None = None
    draw: str | None = None
    task: str | None = None
    cluster: str | None = None
    group: str | None = None
    time: str | None = None
    noise: str | None = None
    input: str | None = None
    output: str | None = None
    values: tuple[str, ...] = ()
    pools_tasks: bool = False


# Columns that were named, by their roles; and the column of each role in every file.
Named = Mapping[str, str]
Assigned = Sequence[tuple[Source, Roles]]


def assign_roles(source: Source, named: Named, options: ReadOptions) -> Roles:
    """Find the column of each role in a file.

    Parameters
    ----------
    source : Source
    named : mapping of str to str
        Columns that were named, by their roles; all are there.
    options : ReadOptions
        `wide` and `sample_optional` say which are needed.

    Returns
    -------
    Roles

    Raises
    ------
    InputError
        If a role has no column in the file; the hint names the columns that look like it.
    UsageError
        If the renaming itself makes no sense.
    """
    _refuse_shared(source, named)
    roles = named_columns(source, named, DEFAULT_ROLE_NAMES)
    if "task" not in named and "sample" not in roles:
        roles.pop("task", None)
    # Under a label a file needs no column for its only model.
    needed = [] if source.model_label is not None else ["model"]
    needed += [] if options.sample_optional else ["sample"]
    needed += [] if options.wide else ["metric", "score"]
    missing = [role for role in needed if role not in roles]
    if missing:
        named_so = option("columns", ",".join(f"{role}=…" for role in missing))
        hint = f"files of one table have the same columns, or name them: {named_so}"
        raise lacking_columns(source, missing, hint)
    group = options.group_by
    if group is not None:
        _require_group(source, roles, group)
    for column in dict.fromkeys([*roles.values(), *([] if group is None else [group])]):
        if (without := source.lacking(column)) is not None:
            under = f"put the file under a folder that names it ({column}=VALUE)"
            hint = f"add it, {under}, or name the files to read one by one"
            what = f"{without}: this part has no column '{column}'"
            raise InputError(what, found=f"other parts of {source.label} have it", hint=hint)
    values: tuple[str, ...] = ()
    if options.wide:
        used = {roles.get(role) for role in (*OF_SAMPLES, "time", "noise", "model", *TEXTS)} | {group}
        used |= {*options.noise}
        values = tuple(name for name in source.columns if name not in {*used, *source.folder_columns})
        roles = {role: name for role, name in roles.items() if role not in ("metric", "score")}
    return Roles(**roles, group=group, values=values, pools_tasks=options.task == NO_COLUMN)


def _require_group(source: Source, roles: Mapping[str, str], column: str) -> None:
    """Refuse a column of groups that is not there, or says something else.

    Raises
    ------
    InputError
    """
    role = next((role for role, name in roles.items() if name == column and role not in _WHOLES), None)
    if role is not None:
        raise InputError(
            f"{source.label}: {option('group_by', column)} is the column of the {role}s, and a group is one "
            "of samples",
            found=f"{column} is the {role}",
            hint="name a column that says something of the samples: a task, a language, a split",
        )
    if column not in source.columns:
        raise no_column(source, "group", [column], column)


def lacking_columns(source: Source, roles: Sequence[str], hint: str) -> InputError:
    """Say which roles have no column in the file."""
    several = "s" if len(roles) > 1 else ""
    return source.refused(f"missing column{several} {listing(map(repr, roles))}", hint)


def no_column(source: Source, role: str, parts: Sequence[str], wrong: str) -> InputError:
    """Say which of the columns named for a role is not in the file, and what was meant."""
    hint = did_you_mean(
        wrong,
        source.columns,
        write=lambda near: _role_of([near if part == wrong else part for part in parts], role),
        otherwise="name columns of this file",
    )
    return source.refused(f"there is no column '{wrong}' (for the role {role})", hint)


def _role_of(parts: Sequence[str], role: str) -> str:
    if role in _OPTIONS:
        return option(_OPTIONS[role], ",".join(parts))
    return option("columns", f"{role}={'+'.join(parts)}")


def named_columns(source: Source, named: Named, known: Sequence[str]) -> dict[str, str]:
    """Columns of a file by role: as they were named, else the column that is called like the role."""
    free = set(source.columns) - set(named.values())
    return dict(named) | {role: role for role in known if role not in named and role in free}


def parse_columns(text: str | None, *, wide: bool = False, roles: Sequence[str] = ROLES) -> dict[str, str]:
    """Split ``"model=system,sample=doc_id"`` into a dictionary of roles.

    Raises
    ------
    UsageError
        If a part names no role and column, or one of them a second time.
    """
    named: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        role, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column or role not in roles:
            examples = option("columns", f"{roles[0]}=…,{roles[1]}=…")
            otherwise = f"write ROLE=COLUMN, separated by commas: {examples}"
            raise UsageError(
                f"{option('columns')}: '{part.strip()}' does not name a role and its column",
                found=f"{option('columns', text)}; the roles are {listing(roles)}",
                hint=did_you_mean(role, roles, write=partial(_role_of, [column or "…"]), otherwise=otherwise),
            )
        if role in named or column in named.values():
            what = f"{option('columns')}: '{part.strip()}' gives a role or a column a second time"
            raise UsageError(what, found=option("columns", text), hint="name each role and each column once")
        named[role] = column
    for role in ("metric", "score"):
        if wide and role in named:
            hint = f"every remaining column of numbers is a metric then; {option('metric')} picks some"
            contradict(option("columns", f"{role}={named[role]}"), option("wide", True), hint)
    return named


def named_roles(options: ReadOptions) -> dict[str, str]:
    """Roles whose columns were named, those of tasks and clusters also by options of their own.

    Raises
    ------
    UsageError
        If the options contradict each other.
    """
    roles = (*ROLES, *TEXTS) if options.texts else ROLES
    named = parse_columns(options.columns, wide=options.wide, roles=roles)
    for whole in _WHOLES:
        asked = getattr(options, whole)
        if asked is not None and not (asked == NO_COLUMN and whole not in named):
            _refuse_twice(named, whole, asked)
            named[whole] = asked
    # A time may be said of what has another role: days are samples, or clusters of them.
    if options.time not in (None, NO_COLUMN) and options.time != named.get("sample", "sample"):
        named["time"] = str(options.time)
    for column in options.noise:
        taken = next(
            (role for role in (*named, *DEFAULT_ROLE_NAMES) if named.get(role, role) == column), None
        )
        if taken is not None:
            raise UsageError(
                f"{option('noise', column)}: this is the column of the {taken}s",
                found=f"column '{column}' for two roles",
                hint="name columns that say who judged, how it was asked, which run it was",
            )
    if options.noise:
        named["noise"] = "+".join(options.noise)
    for role, column in named.items():
        if options.matrix is not None and role not in (*OF_SAMPLES, "model", "time", "noise"):
            hint = "leave one of the two out: in a matrix every column of numbers is a model"
            contradict(option("columns", f"{role}={column}"), option("matrix", options.matrix), hint)
    return named


def _refuse_twice(named: Named, whole: str, asked: str) -> None:
    """Refuse a column that has a role already, and a role that has a column.

    Raises
    ------
    UsageError
    """
    taken = next((role for role, column in named.items() if column == asked and role != whole), None)
    if taken is not None or named.get(whole, asked) != asked:
        role = taken or whole
        hint = "name each role and each column once"
        contradict(option(whole, asked), option("columns", f"{role}={named[role]}"), hint)


def _refuse_shared(source: Source, named: Named) -> None:
    """Refuse clusters or tasks of a column that plays another role by its name.

    Raises
    ------
    UsageError
    """
    for whole in _WHOLES:
        role = named.get(whole, "")
        # The column task is that of the tasks only while nobody says otherwise.
        if role in DEFAULT_ROLE_NAMES and role not in (*named, "task"):
            raise UsageError(
                f"{source.label}: column '{role}' cannot hold both the {role} and the {whole}",
                found=option(whole, role),
                hint="leave it out, or name the column that says what samples belong to",
            )
