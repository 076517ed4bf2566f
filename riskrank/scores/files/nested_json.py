"""JSON that nests scores below their models: the line of Python that writes them as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from riskrank.errors import as_one_word, option

# Names of one level that are more are samples; fewer samples than these cannot be tested anyway.
_FEWEST_SAMPLES = 10
# Wrappings that are followed.
_DEEPEST = 6
_ROLES = ("model", "metric", "sample")
# What people call the field beside scores that names their model.
_NAMES = ("model", "model_name", "model_id", "name", "system", "method", "id")


@dataclass(frozen=True)
class _Path:
    """The way down to the scores, as Python walks it.

    Attributes
    ----------
    value : str
        What the levels so far lead to, as an expression.
    loops : tuple of str
        Clauses of a comprehension.
    levels : tuple of (str, int)
        The variable of each level and how many values it has; of a list, its number.
    listed : bool
        Whether the last level is a list of scores.
    models : str
        A field beside the scores that names their model, as an expression.
    row : str
        The last part of a row of its own: other fields than model, metric and sample.
    """

    value: str = "d"
    loops: tuple[str, ...] = ()
    levels: tuple[tuple[str, int], ...] = ()
    listed: bool = False
    models: str = ""
    row: str = ""


def rows_of(label: str, document: object) -> str | None:
    """How to write a document that nests its scores as rows, for a hint.

    Parameters
    ----------
    label : str
        The file.
    document : object
        Its value.

    Returns
    -------
    str or None
        None where the file is no plain JSON file, is a table as it is, or nothing tells its levels apart.
    """
    if Path(label).suffix != ".json" or not Path(label).is_file():
        return None
    fields = document if isinstance(document, dict) else {}
    if any(isinstance(fields.get(name), list | dict) for name in (*_ROLES, "score")):  # columns
        return None
    found = _down(document, _Path())
    return None if found is None or found == _Path(row="**r") else _line(label, found)


def _line(label: str, found: _Path) -> str | None:
    row, known = _row(found)
    if not row:
        return None
    out = f"{Path(label).stem}.rows.json"
    rows = f"[{row} {' '.join(found.loops)}]" if found.loops else found.value
    code = f"import json; d = json.load(open({label!r}, 'rb')); json.dump({rows}, open({out!r}, 'w'))"
    line = f"write rows: python -c {as_one_word(code)}, and read {out}"
    if found.row:
        return line
    if "sample" not in known:
        return (
            "if the inner names are metrics, one row a model cannot be tested; copa can choose among them: "
            f"{line} with {option('higher', '*')}, and {option('lower')} for what is better if less"
        )
    if "model" not in known:
        return f"{line} under the name of its model: NAME={out}"
    level = _perhaps_tasks(found, known)
    conditions = [] if found.models else ["the outer names are models"]
    if level is None:
        return f"if {conditions[0]}, {line}" if conditions else line
    conditions.append("the names above the samples are metrics")
    return (
        f"if {' and '.join(conditions)}, {line}; if those above the samples are tasks, each with samples of "
        f"its own, write 'metric': 'score', 'task': {level} for 'metric': {level} in it"
    )


def _perhaps_tasks(found: _Path, known: Mapping[str, str]) -> str | None:
    """The variable of the level taken for metrics, where samples lie below it: it may be of tasks."""
    order = [name for name, _ in found.levels]
    metric, sample = (known.get(role) for role in ("metric", "sample"))
    above = metric in order and sample in order and order.index(metric) < order.index(sample)
    return metric if above else None


def _row(found: _Path) -> tuple[str, Mapping[str, str]]:
    """A row as a dictionary, and what gives each role; empty where nothing tells what levels are."""
    levels = list(found.levels)
    if found.row:
        named = found.models or (levels[0][0] if levels else "")
        model = f"'model': {named}, " if named else ""
        return (f"{{{model}{found.row}}}", {}) if len(levels) < 2 else ("", {})
    roles: dict[str, str] = {"model": found.models} if found.models else {}
    if found.listed:
        roles["sample"] = levels.pop()[0]
    if "model" not in roles and levels:
        roles["model"] = levels.pop(0)[0]
    for name, count in sorted(levels, key=lambda level: -level[1]):
        role = "sample" if "sample" not in roles and count >= _FEWEST_SAMPLES else "metric"
        if role in roles:
            return "", {}
        roles[role] = name
    if roles.keys() <= {"model"}:
        return "", {}
    cells = [f"'{role}': {name}" for role, name in ({"metric": "'score'"} | roles).items()]
    return f"{{{', '.join([*cells, repr('score') + ': x'])}}}", roles


def _down(value: object, path: _Path) -> _Path | None:
    """One level further, until there are numbers, or rows."""
    if isinstance(value, list) and value:
        if all(map(_is_number, value)):
            return _level(path, f"for s, x in enumerate({path.value})", ("s", len(value)), listed=True)
        return _of_records(value, path) if all(isinstance(row, dict) for row in value) else None
    if not isinstance(value, dict) or not value or path.value.count("[") > _DEEPEST:
        return None
    if all(isinstance(of, dict) and _is_number(of.get("mean")) for of in value.values()):
        loop = f"for k, x in ((k, v['mean']) for k, v in {path.value}.items())"
        return _level(path, loop, ("k", len(value)))
    inner = {name: of for name, of in value.items() if isinstance(of, list | dict)}
    if not inner:
        found = _level(path, f"for k, x in {path.value}.items()", ("k", len(value)))
        return found if all(map(_is_number, value.values())) else None
    alike = len(inner) == len(value) > 1 and len({_kind(of) for of in inner.values()}) == 1
    if alike:
        letter = f"n{len(path.levels)}"
        loop = f"for {letter}, v{len(path.levels)} in {path.value}.items()"
        deeper = replace(_level(path, loop, (letter, len(value))), value=f"v{len(path.levels)}")
        return _down(next(iter(inner.values())), deeper)
    name = next(iter(inner)) if len(inner) == 1 else _rows_among(inner)
    if name is None:
        return None
    named = _name_field(value)
    models = f"{path.value}[{named!r}]" if named and not path.levels else path.models
    return _down(value[name], replace(path, value=f"{path.value}[{name!r}]", models=models))


def _of_records(rows: Sequence[Mapping[str, object]], path: _Path) -> _Path | None:
    """A list of objects: rows, or models with their scores in a field of each."""
    fields = {name for row in rows for name, of in row.items() if isinstance(of, list | dict)}
    loop = (f"for r in {path.value}",)
    if not fields:
        return replace(path, row="**r", loops=path.loops + loop if path.levels or path.models else ())
    if len(fields) > 1 or any(not row.get(next(iter(fields))) for row in rows):
        return None
    (field,) = fields
    inner = rows[0][field]
    if isinstance(inner, dict) and all(map(_is_number, inner.values())):
        return replace(path, row=f"**r.pop({field!r}), **r", loops=path.loops + loop)
    named = _name_field(rows[0])
    if named is None or path.levels:
        return None
    deeper = replace(path, value=f"r[{field!r}]", loops=path.loops + loop, models=f"r[{named!r}]")
    if isinstance(inner, list) and inner and isinstance(inner[0], dict):
        return replace(deeper, row="**q", loops=(*deeper.loops, f"for q in {deeper.value}"))
    return _down(inner, deeper)


def _level(path: _Path, loop: str, level: tuple[str, int], *, listed: bool = False) -> _Path:
    return replace(path, loops=(*path.loops, loop), levels=(*path.levels, level), listed=listed)


def _rows_among(inner: Mapping[str, object]) -> str | None:
    """The only field that holds rows."""
    rows = [name for name, of in inner.items() if isinstance(of, list) and of and isinstance(of[0], dict)]
    return rows[0] if len(rows) == 1 else None


def _name_field(fields: Mapping[str, object]) -> str | None:
    """The field that names a model."""
    return next((name for name in _NAMES if isinstance(fields.get(name), str)), None)


def _kind(value: object) -> str:
    """What a level holds: a list of numbers or of rows, numbers by name, or levels."""
    within = value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
    what = "numbers" if all(map(_is_number, within)) else "rows" if isinstance(value, list) else "levels"
    return f"{type(value).__name__} of {what}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
