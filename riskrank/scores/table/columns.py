"""Column roles: which column contains models, samples, metrics, scores, repeats, tasks or clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from riskrank.errors import InputError, UsageError, did_you_mean, listing, option
from riskrank.options.reading import NO_COLUMN, ReadOptions
from riskrank.options.values import contradict
from riskrank.scores.files.source import Source
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES

# A column that happens to be called cluster must not change the resampling unit: the user has to name it.
ROLES = (*DEFAULT_ROLE_NAMES, "cluster")

# Roles in a matrix; every other numeric column is a model.
SAMPLE_ROLES = ("sample", "draw", "task", "cluster")

# Prompt and response, for commands that show single cases.
TEXT_ROLES = ("input", "output")

# Roles with an option of the same name. Their column may also hold the groups.
_CLUSTER_ROLES = ("task", "cluster")
# Roles that only an option can name.
_ROLE_OPTIONS = {"time": "time", "noise": "noise", "group": "group_by"}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The column for each role in a file; None if the role has no column.

    In wide tables, `values` lists the columns without any other role. If `pools_tasks` is true, tasks merely
    distinguish samples with the same name.
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


# Named columns by role; and the roles in every file.
NamedColumns = Mapping[str, str]
FileRoles = Sequence[tuple[Source, Roles]]


def assign_roles(source: Source, named: NamedColumns, options: ReadOptions) -> Roles:
    """Find the column of a file for each role, such as model, sample, metric and score.

    Parameters
    ----------
    source : Source
    named : mapping of str to str
        Columns that the user named, by role. They must all exist.
    options : ReadOptions
        `wide` and `sample_optional` determine which roles are required.

    Returns
    -------
    Roles

    Raises
    ------
    InputError
        If a required role has no column. The hint names similar columns.
    UsageError
        If a column would have two mutually exclusive roles.
    """
    for unit in _CLUSTER_ROLES:
        role = named.get(unit, "")
        # A column called task loses that role if another task column is named.
        if role in DEFAULT_ROLE_NAMES and role not in (*named, "task"):
            problem = f"{source.label}: column '{role}' cannot be both the {role} and the {unit} column"
            hint = "remove this option, or name another column that groups the samples"
            raise UsageError(problem, found=option(unit, role), hint=hint)
    roles = columns_by_role(source, named, DEFAULT_ROLE_NAMES)
    if "task" not in named and "sample" not in roles:
        roles.pop("task", None)
    # A labelled file holds one model and needs no model column.
    needed = [] if source.model_label is not None else ["model"]
    needed += [] if options.sample_optional else ["sample"]
    needed += [] if options.wide else ["metric", "score"]
    missing = [role for role in needed if role not in roles]
    if missing:
        syntax = option("columns", ",".join(f"{role}=…" for role in missing))
        hint = f"add these columns to the file, or name its columns: {syntax}"
        raise missing_columns_error(source, missing, hint)
    group = options.group_by
    conflicts = [role for role, name in roles.items() if name == group and role not in _CLUSTER_ROLES]
    conflicts += ["model"] * (group in roles.get("model", "").split("+"))
    if group is not None and conflicts:
        problem = f"{source.label}: {option('group_by', group)} cannot name the {conflicts[0]} column"
        detail = f"column '{roles[conflicts[0]]}' contains the {conflicts[0]}s, but groups consist of samples"
        hint = "name a column that describes samples, such as a task, a language or a split"
        raise InputError(problem, found=detail, hint=hint)
    if group is not None and group not in source.columns:
        raise unknown_column_error(source, "group", [group], group)
    for column in dict.fromkeys([*roles.values(), *([] if group is None else [group])]):
        if (file := source.file_without(column)) is not None:
            move = f"move the file into a folder named {column}=VALUE"
            hint = f"add the column, {move}, or list the files to read"
            error = f"{file}: this file has no column '{column}'"
            raise InputError(error, found=f"other files of {source.label} have this column", hint=hint)
    values: tuple[str, ...] = ()
    if options.wide:
        used = {roles.get(role) for role in (*SAMPLE_ROLES, "time", "noise", "model", *TEXT_ROLES)} | {group}
        used |= {*options.noise}
        values = tuple(name for name in source.columns if name not in {*used, *source.folder_columns})
        roles = {role: name for role, name in roles.items() if role not in ("metric", "score")}
    return Roles(**roles, group=group, values=values, pools_tasks=options.task == NO_COLUMN)


def missing_columns_error(
    source: Source, roles: Sequence[str], hint: str, suggestions: Sequence[tuple[str, object]] = ()
) -> InputError:
    """Return the error for roles that no column of the file has.

    `suggestions` are pairs of a command to copy and the options that it sets.
    """
    problem = f"missing column{'s' * (len(roles) > 1)} {listing(map(repr, roles))}"
    return source.error_with_columns(problem, hint, suggestions)


def unknown_column_error(source: Source, role: str, parts: Sequence[str], wrong: str) -> InputError:
    """Return the error for a column that the user named but the file lacks.

    The hint suggests columns with similar names.

    Parameters
    ----------
    source : Source
    role : str
    parts : sequence of str
        All columns that the user named for the role.
    wrong : str
        The column that does not exist.
    """
    hint = did_you_mean(
        wrong,
        source.columns,
        write=lambda near: _format_role_option([near if part == wrong else part for part in parts], role),
        fallback="use a column of this file",
    )
    return source.error_with_columns(f"there is no column '{wrong}' (for the role {role})", hint)


def _format_role_option(parts: Sequence[str], role: str) -> str:
    """Format the option that assigns one or more columns to a role, such as ``--columns sample=id``."""
    if role in _ROLE_OPTIONS:
        return option(_ROLE_OPTIONS[role], ",".join(parts))
    return option("columns", f"{role}={'+'.join(parts)}")


def columns_by_role(source: Source, named: NamedColumns, roles: Sequence[str]) -> dict[str, str]:
    """Return the column of a file for each role.

    Columns named by the user come first, followed by columns whose name is a role.
    """
    free = set(source.columns) - set(named.values())
    return dict(named) | {role: role for role in roles if role not in named and role in free}


def parse_columns(text: str | None, *, wide: bool = False, roles: Sequence[str] = ROLES) -> dict[str, str]:
    """Parse ``"model=system,sample=doc_id"`` into a dictionary of columns by role.

    Parameters
    ----------
    text : str or None
    wide : bool
        Whether the table is wide, so that metric and score have no column.
    roles : sequence of str
        Roles that are allowed.

    Raises
    ------
    UsageError
        If a part lacks a role or column, repeats one of them, or names a role that is not allowed.
    """
    named: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        role, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column or role not in roles:
            examples = option("columns", f"{roles[0]}=…,{roles[1]}=…")
            otherwise = f"write ROLE=COLUMN, separated by commas: {examples}"
            write = partial(_format_role_option, [column or "…"])
            hint = did_you_mean(role, roles, write=write, fallback=otherwise)
            problem = f"{option('columns')}: '{part.strip()}' does not name a role and its column"
            detail = f"{option('columns', text)}; the roles are {listing(roles)}"
            raise UsageError(problem, found=detail, hint=hint)
        if role in named or column in named.values():
            error = f"{option('columns')}: '{part.strip()}' repeats a role or a column"
            raise UsageError(error, found=option("columns", text), hint="name each role and each column once")
        named[role] = column
    for role in ("metric", "score"):
        if wide and role in named:
            hint = f"in a wide table every other numeric column is a metric; {option('metric')} selects some"
            contradict(option("columns", f"{role}={named[role]}"), option("wide", True), hint)
    return named


def option_columns(options: ReadOptions) -> dict[str, str]:
    """Return the column that the options name for each role.

    Tasks and clusters may also be named by separate options.

    Raises
    ------
    UsageError
        If the options contradict each other.
    """
    roles = (*ROLES, *TEXT_ROLES) if options.texts else ROLES
    named = parse_columns(options.columns, wide=options.wide, roles=roles)
    for unit in _CLUSTER_ROLES:
        value = getattr(options, unit)
        if value is None or (value == NO_COLUMN and unit not in named):
            continue
        other = next((role for role, column in named.items() if column == value and role != unit), None)
        if other is not None or named.get(unit, value) != value:
            role = other or unit
            flag = option("columns", f"{role}={named[role]}")
            contradict(option(unit, value), flag, "name each role and each column once")
        named[unit] = value
    # The time column may have another role: days may be samples or clusters.
    if options.time not in (None, NO_COLUMN) and options.time != named.get("sample", "sample"):
        named["time"] = str(options.time)
    for column in options.noise:
        taken = (*named, *DEFAULT_ROLE_NAMES)
        conflict = next((role for role in taken if named.get(role, role) == column), None)
        if conflict is not None:
            problem = f"{option('noise', column)}: this column already names the {conflict}s"
            hint = "name columns of judges, prompts or runs"
            raise UsageError(problem, found=f"column '{column}' has two roles", hint=hint)
    if options.noise:
        named["noise"] = "+".join(options.noise)
    for role, column in named.items():
        if options.matrix is not None and role not in (*SAMPLE_ROLES, "model", "time", "noise"):
            hint = "remove one of the two options: in a matrix every numeric column is a model"
            contradict(option("columns", f"{role}={column}"), option("matrix", options.matrix), hint)
    return named
