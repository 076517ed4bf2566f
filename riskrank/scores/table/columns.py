"""Which column of a file plays which role: model, sample, metric, score, draw, cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError, did_you_mean, listing, nearest, option
from riskrank.scores.files.source import Source
from riskrank.scores.table.guesses import may_name_samples, sample_columns, unique_with
from riskrank.scores.table.parsing import column_kind

ROLES = ("model", "sample", "metric", "score", "draw", "cluster")

# A column that happens to be called cluster must not change the unit of resampling: it has to be named.
FOUND_BY_NAME = ROLES[:-1]

# Columns whose contents are looked at for a guess.
_MOST_CANDIDATES = 20

# What people call these columns; the first one present is suggested, never taken silently.
_USUAL_NAMES = {
    "model": """model model_name model_id models system system_id method algorithm algo framework strategy llm
        classifier learner estimator engine agent submission team""",
    "sample": """sample sample_id samples doc_id docid doc document id item item_id example example_id
        instance instance_id question question_id prompt prompt_id case task dataset query qid input""",
    "metric": "metric metric_name metrics measure measurement criterion criteria scorer evaluator kpi",
    "score": "score scores value val values result metric_value measurement estimate y",
    "model_a": "model_a modela model_1 model1 first left answer_a assistant_a system_a a",
    "model_b": "model_b modelb model_2 model2 second right answer_b assistant_b system_b b",
    "verdict": "verdict winner judgement judgment preference outcome decision label choice result",
}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Column of each role in one file; None where the role has no column.

    `values` holds, for wide tables, the columns that are not needed for another role.
    """

    model: str | None
    sample: str | None
    metric: str | None
    score: str | None
    draw: str | None
    cluster: str | None = None
    group: str | None = None
    values: tuple[str, ...] = ()


def assign_roles(source: Source, options: ReadOptions) -> Roles:
    """Find the column of each role in a file.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        `columns` renames roles and `cluster` names one; `wide` and `sample_optional` say which are needed.

    Returns
    -------
    Roles

    Raises
    ------
    InputError
        If a column is not in the file; the hint names the columns that look like the missing roles.
    UsageError
        If the renaming itself makes no sense.
    """
    named = named_roles(options)
    _refuse_shared(source, named)
    roles = named_columns(source, named, FOUND_BY_NAME)
    # Under a label a file needs no column for its only model.
    needed = [] if source.model_label is not None else ["model"]
    needed += [] if options.sample_optional else ["sample"]
    needed += [] if options.wide else ["metric", "score"]
    missing = [role for role in needed if role not in roles]
    if missing:
        raise _missing_columns(source, roles, missing, options)
    group = _group_column(source, roles, options)
    for column in dict.fromkeys([*roles.values(), *([] if group is None else [group])]):
        _require_in_all_parts(source, column)
    values: tuple[str, ...] = ()
    if options.wide:
        used = {roles.get(role) for role in ("model", "sample", "draw", "cluster")} | {group}
        values = tuple(name for name in source.columns if name not in {*used, *source.folder_columns})
    return Roles(
        model=roles.get("model"),
        sample=roles.get("sample"),
        metric=None if options.wide else roles["metric"],
        score=None if options.wide else roles["score"],
        draw=roles.get("draw"),
        cluster=roles.get("cluster"),
        group=group,
        values=values,
    )


def _require_in_all_parts(source: Source, column: str) -> None:
    without = source.lacking(column)
    if without is not None:
        raise InputError(
            f"{without}: this part has no column '{column}'",
            found=f"other parts of {source.label} have it",
            hint="add it, put the file under a folder that names it "
            f"({column}=VALUE), or name the files to read one by one",
        )


def _group_column(source: Source, roles: Mapping[str, str], options: ReadOptions) -> str | None:
    column = options.group_by
    if column is None:
        return None
    role = next((role for role, name in roles.items() if name == column and role != "cluster"), None)
    if role is not None:
        hint = "name a column that says something of the samples: a task, a language, a split"
        if role == "metric":
            hint = f"each metric on its own: {option('per_metric', True)}"
        raise InputError(
            f"{source.label}: {option('group_by', column)} is the column of the {role}s, and a group is one "
            "of samples",
            found=f"{column} is the {role}",
            hint=hint,
        )
    if column not in source.columns:
        raise InputError(
            f"{source.label}: there is no column '{column}' to group by",
            found=f"columns: {listing(source.columns, 20)}",
            hint=did_you_mean(
                column, source.columns, parameter="group_by", otherwise="name one of these columns"
            ),
        )
    return column


def no_column(source: Source, role: str, parts: Sequence[str], wrong: str) -> InputError:
    """Say which of the columns named for a role is not in the file, and what was meant."""
    return InputError(
        f"{source.label}: there is no column '{wrong}' (for the role {role})",
        found=f"columns: {listing(source.columns, 20)}",
        hint=did_you_mean(
            wrong,
            source.columns,
            write=lambda near: _role_of("+".join(near if part == wrong else part for part in parts), role),
            otherwise="name columns of this file",
        ),
    )


def _role_of(column: str, role: str) -> str:
    return option("columns", f"{role}={column}")


def named_columns(source: Source, named: Mapping[str, str], known: Sequence[str]) -> dict[str, str]:
    """Columns of a file by role: as they were named, else the column that is called like the role.

    Raises
    ------
    InputError
        If a named column is not in the file.
    """
    for role, column in named.items():
        if column not in source.columns:
            raise no_column(source, role, [column], column)
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
            raise UsageError(
                f"{option('columns')}: '{part.strip()}' does not name a role and its column",
                found=f"{option('columns', text)}; the roles are {listing(roles)}",
                hint=did_you_mean(
                    role,
                    roles,
                    write=partial(_role_of, column or "…"),
                    otherwise=f"write ROLE=COLUMN, separated by commas: {examples}",
                ),
            )
        if role in named or column in named.values():
            raise UsageError(
                f"{option('columns')}: '{part.strip()}' gives a role or a column a second time",
                found=f"{option('columns', text)}",
                hint="name each role and each column once",
            )
        named[role] = column
    for role in ("metric", "score"):
        if wide and role in named:
            raise UsageError(
                f"{option('columns', f'{role}={named[role]}')} contradicts {option('wide', True)}",
                found=f"{option('wide', True)}, where every remaining numeric column is a metric",
                hint=f"remove {option('wide', True)}, or pick metrics with {option('metric')} "
                f"instead of {role}=…",
            )
    return named


def named_roles(options: ReadOptions) -> dict[str, str]:
    """Roles whose columns were named, that of the clusters also by an option of its own.

    Raises
    ------
    UsageError
        If the options contradict each other.
    """
    named, cluster = parse_columns(options.columns, wide=options.wide), options.cluster
    if cluster is None:
        return named
    taken = next((role for role, column in named.items() if column == cluster and role != "cluster"), None)
    if taken is not None or named.get("cluster", cluster) != cluster:
        role = taken or "cluster"
        raise UsageError(
            f"{option('cluster', cluster)} contradicts {option('columns', f'{role}={named[role]}')}",
            found="two columns for one role" if taken is None else f"column '{cluster}' for two roles",
            hint="name each role and each column once",
        )
    return named | {"cluster": cluster}


def _refuse_shared(source: Source, named: Mapping[str, str]) -> None:
    """Refuse clusters of a column that plays another role by its name.

    Raises
    ------
    UsageError
    """
    role = named.get("cluster", "")
    if role in FOUND_BY_NAME and role not in named:
        raise UsageError(
            f"{source.label}: column '{role}' cannot hold both the {role} and the cluster",
            found=option("cluster", role),
            hint="leave it out: samples are drawn one by one then"
            if role == "sample"
            else "name the column that says which samples belong together",
        )


def _loaded(source: Source, names: Sequence[str]) -> dict[str, pl.Series]:
    frame = source.load(names) if names else pl.DataFrame()
    return {name: frame[name] for name in names}


def _missing_columns(
    source: Source, roles: dict[str, str], missing: Sequence[str], options: ReadOptions
) -> InputError:
    """Say which roles lack a column and guess, from names and contents, which columns were meant."""
    free = [column for column in source.columns if column and column not in roles.values()]
    kinds = {name: column_kind(one, source.decimal_comma) for name, one in _loaded(source, free).items()}
    numeric = [column for column in free if kinds[column] == "number"]
    text = [column for column in free if column not in numeric]
    fitting = {"model": text or free, "sample": free, "metric": text, "score": numeric}
    guesses: dict[str, str] = {}
    for role in missing:
        candidates = [column for column in fitting[role] if column not in guesses.values()]
        guess = synonym(role, candidates) or nearest(role, candidates)
        if guess is None and role == "score" and len(candidates) == 1:
            guess = candidates[0]
        if guess is not None:
            guesses[role] = guess
    _refine(source, guesses, roles, text, free)
    measures = [column for column in numeric if column not in {**guesses, "score": ""}.values()]
    looks_wide = not options.wide and "metric" in missing and "metric" not in guesses and len(measures) > 0
    if looks_wide:
        guesses.pop("score", None)
    renamed = {role: column for role, column in roles.items() if role != column} | guesses
    mapping = ",".join(f"{role}={column}" for role, column in renamed.items())
    unknown = [role for role in missing if role not in guesses]
    names = guesses.get("sample")
    if looks_wide and "model" in unknown and names and source.load([names])[names].is_unique().all():
        hint = (
            f"if a row is a model, add {option('wide', True)} {option('columns', f'model={names}')} and try "
            f"copa; if a row is a sample and a column a model: {option('matrix', 'METRIC')} "
            f"{option('columns', f'sample={names}')}"
        )
    elif looks_wide:
        hint = f"with one row per model and sample and a column per metric, add {option('wide', True)}"
        hint += f" {option('columns', mapping)}" if guesses else ""
        model = (dict(roles) | guesses).get("model")
        if unknown[:1] == ["sample"] and model and source.load([model])[model].is_unique().all():
            hint += "; one row a model is a table for copa"
    elif unknown == ["sample"]:
        named = option("columns", f"{mapping},sample=…" if mapping else "sample=…")
        hint = f"name the column that tells samples apart: {named}"
    elif guesses:
        hint = f"did you mean {option('columns', mapping)}?"
    else:
        hint = f"say which columns they are: {option('columns', ','.join(f'{role}=…' for role in missing))}"
    plural = "s" if len(missing) > 1 else ""
    return InputError(
        f"{source.label}: missing column{plural} {listing(repr(role) for role in missing)}",
        found=f"columns: {listing(source.columns, 20)}",
        hint=hint,
    )


def _refine(
    source: Source,
    guesses: dict[str, str],
    roles: Mapping[str, str],
    text: Sequence[str],
    free: Sequence[str],
) -> None:
    """Let contents decide among the columns whose names fit: rows differ in model, sample and metric."""
    known = dict(roles) | guesses
    keys = [known[role] for role in ("model", "metric") if role in known]
    taken = {*keys, known.get("score")}
    # Names of far more columns than people give to samples are no evidence.
    left = [name for name in free if name not in taken and may_name_samples(name)][:_MOST_CANDIDATES]
    fitting = [name for name in text if name not in taken and synonym("model", [name])][:_MOST_CANDIDATES]
    frame = source.load(list(dict.fromkeys([*keys, *left, *fitting])))
    if "sample" in guesses:
        found = sample_columns(frame, keys, left)
        guesses["sample"] = "+".join(found) if found else guesses["sample"]
    sample = known["sample"] if "sample" in roles else guesses.get("sample", "")
    parts = sample.split("+")
    if "model" in guesses and set(parts) <= set(frame.columns):
        candidates = [guesses["model"], *(name for name in fitting if name not in parts)]
        others = [*parts, *(known[role] for role in ("metric",) if role in known)]
        guesses["model"] = unique_with(frame, candidates, others) or guesses["model"]


def synonym(role: str, candidates: Sequence[str]) -> str | None:
    """The candidate whose name, or a word of whose name, is usual for the role."""
    folded = {column.casefold(): column for column in reversed(candidates)}
    usual = _USUAL_NAMES[role].split()
    whole = next((folded[name] for name in usual if name in folded), None)
    if whole is not None:
        return whole
    words = {
        word: column for column in reversed(candidates) for word in re.findall("[a-z]+", column.casefold())
    }
    return next((words[name] for name in usual if name in words), None)
