"""What promptfoo writes with ``--output``: results as JSON, or a line a row.

A column of its table is a prompt with a provider. Repeats of a test get numbers of their own and nothing
says which repeat a row is: rows of one test under one column are draws.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.errors import InputError, listing
from riskrank.scores.exports.copies import RunFile, leave_copies
from riskrank.scores.exports.fields import Record, a_name, broken
from riskrank.scores.exports.gathering import Gathering, check_used, choose, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath, within
from riskrank.scores.files.beginnings import first_bytes
from riskrank.scores.files.json_objects import shown
from riskrank.scores.files.parsing import ERROR, REFUSAL, UNSCORED

NAME = "promptfoo"

_LONGEST_NAME = 80
_ERROR = 2  # failureReason of a row that ended in an error; 1 is a failed assertion
# What a table as CSV is told by; its scores have two decimals.
_TABLE = re.compile(rb',Status,Score,Named Scores|,Grader Reason,Comment|[,\n]"?\[(PASS|FAIL|ERROR)\] \(\d')


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer: of a provider to a prompt, on a test."""

    path: Path
    provider: str
    prompt: str
    column: str
    test: str
    row: Mapping[str, Any]

    @property
    def failed(self) -> bool:
        """Whether it ended in an error; `error` also tells of assertions that failed."""
        reason = self.row.get("failureReason")
        if reason is not None:
            return reason == _ERROR
        return bool(self.row.get("error")) and not self.row.get("gradingResult")

    @property
    def unscored(self) -> dict[str, str]:
        """The column that says why a metric has no score, where the row tells it."""
        response = self.row.get("response")
        if isinstance(response, dict) and response.get("isRefusal") is True:
            return {UNSCORED: REFUSAL}
        return {UNSCORED: ERROR} if self.failed else {}

    @property
    def asked(self) -> object:
        """The prompt with the variables put in; the variables where the row has no prompt."""
        return within(self.row, "prompt", "raw") or self.row.get("vars")

    @property
    def named_scores(self) -> Mapping[str, Any]:
        """Scores of single assertions."""
        found = self.row.get("namedScores")
        return found if isinstance(found, dict) else {}


def recognises(path: Path) -> bool:
    """Whether a file holds results of promptfoo."""
    head = first_bytes(path)
    if _is_of(path, ".csv"):
        return bool(_TABLE.search(head))
    if path.suffix == ".jsonl":
        return b'"namedScores"' in head and (b'"promptIdx"' in head or b'"promptId"' in head)
    if path.suffix != ".json" or head[:1] != b"{":
        return False
    return b'"evalId"' in head[:200] or (b'"results"' in head[:200] and b'"provider"' in head)


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read results, each file of several models.

    Parameters
    ----------
    files : sequence of LabelledPath
        JSON or JSONL files, or folders.
    rules : ExportRules
        `filters` picks prompts. Of several, each with a provider is a model of its own.

    Returns
    -------
    Export
        A sample is a test, a draw a repeat; metrics are ``score``, ``success`` and the named scores.
    """
    refuse_rules(rules, NAME, uses=("filter",))
    gathering = Gathering(rules)
    rows: list[Answer] = []
    runs: list[RunFile] = []
    for path in _without_tables(gathering, list(files_of(files, recognises))):
        gathering.take(path, partial(_read_file, path, gathering, rows, runs))
    left = leave_copies(gathering, sorted(runs, key=lambda run: run.path.suffix != ".json"))
    rows = [row for row in rows if row.path not in left]
    prompts = dict.fromkeys(row.prompt for row in rows)
    if rows:
        check_used("filter", rules.filters, prompts)
    kept = choose("filter", rules.filters, prompts, what="prompts", where=str(files[0].path))
    rows = [row for row in rows if row.prompt in kept]
    models = _models(rows, several=len(kept) > 1, rules=rules)
    _note_repeats(rows, models, gathering)
    names = _test_names(rows)
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        named[row.test].update(dict.fromkeys(row.named_scores))
    # Older tables tell only who passed.
    general = [name for name in ("score", "success") if any(row.row.get(name) is not None for row in rows)]
    seen: Counter[tuple[str, str]] = Counter()
    for row, model in zip(rows, models, strict=True):
        seen[model, row.test] += 1
        place = {"model": model, "sample": names[row.test], "draw": str(seen[model, row.test])}
        gathering.attempt(row.path, partial(_add, row, place, general, tuple(named[row.test]), gathering))
    gathering.direct("score", "higher")
    gathering.direct("success", "higher")
    return gathering.export()


def _is_of(path: Path, suffix: str) -> bool:
    return path.name.removesuffix(".gz").removesuffix(".zst").endswith(suffix)


def _without_tables(gathering: Gathering, paths: Sequence[Path]) -> list[Path]:
    """Files but tables as CSV, which are noted beside others and refused alone."""
    kept = [path for path in paths if not _is_of(path, ".csv")]
    if paths and not kept:
        raise InputError(
            f"{paths[0]}: promptfoo's CSV is a table to look at, with scores cut to two decimals",
            found="columns of answers with their status",
            hint="give the JSON: promptfoo eval --output results.json",
        )
    for path in (path for path in paths if path not in kept):
        gathering.note(f"{path}: left out, promptfoo's CSV cuts scores to two decimals")
    return kept


def _note_repeats(rows: Sequence[Answer], models: Sequence[str], gathering: Gathering) -> None:
    """Note files that were run on the same tests by the same models."""
    files: dict[tuple[str, str], dict[Path, None]] = defaultdict(dict)
    for row, model in zip(rows, models, strict=True):
        files[model, row.test][row.path] = None
    repeated = dict.fromkeys(path for paths in files.values() if len(paths) > 1 for path in paths)
    if repeated:
        gathering.note(
            f"{len(repeated)} files of the same models and tests, {listing(repeated, 3)}: they are repeats "
            "of the same samples"
        )


def _read_file(
    path: Path, gathering: Gathering, rows: list[Answer], runs: list[RunFile], data: bytes
) -> None:
    columns: list[Any] = []
    evaluation = ""
    if _is_of(path, ".jsonl"):
        found = list(gathering.lines(path, data))
    else:
        document = gathering.document(path, data)
        part, evaluation = document.inner("results"), document.text("evalId")
        found, columns = part.entries("results"), part.listed("prompts")
    if not found:
        raise broken(f"{path}: no rows in it", "an empty list")
    own = [_answer(path, row, columns) for row in found]
    rows += own
    runs.append(_run_file(path, own, evaluation))


def _answer(path: Path, row: Record, columns: Sequence[Any]) -> Answer:
    provider = row.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    if not isinstance(provider, str) or not provider:
        raise broken(f"{row.place} names no provider", shown(row))
    row.inner("namedScores")
    prompt, column = _prompt(row, columns), row.text("promptIdx")
    return Answer(path=path, provider=provider, prompt=prompt, column=column, test=_test(row), row=row)


def _run_file(path: Path, rows: Sequence[Answer], evaluation: str) -> RunFile:
    """A file by its rows' identifiers, else by its evaluation; lines come in any order."""
    results: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        results[row.provider].append((repr(row.row.get("success")), repr(row.row.get("score"))))
    ids = {row.row["id"] for row in rows if isinstance(row.row.get("id"), str)}
    return RunFile(
        path=path,
        run=sorted(ids) if len(ids) == len(rows) else evaluation,
        rows={(name, n): one for name, found in results.items() for n, one in enumerate(sorted(found))},
    )


def _prompt(row: Record, columns: Sequence[Any]) -> str:
    """Name of a prompt: its label, else its template; the row itself holds it with the variables put in."""
    place = row.get("promptIdx")
    of_column = columns[place] if isinstance(place, int) and 0 <= place < len(columns) else None
    known = Record(f"{row.place}, its entry of results.prompts", of_column)
    for source in (known, row.inner("prompt")):
        name = source.get("label") or source.get("display")
        if isinstance(name, str) and name:
            return name
    return a_name(row.at("promptId"), row.get("promptId") or known.get("raw"), otherwise="prompt")


def _test(row: Record) -> str:
    """What makes a test: its variables, assertions and description; repeats have the same."""
    case = row.inner("testCase")
    variables = (row if row.get("vars") else case).inner("vars")
    return json.dumps([variables, case.text("description") or None, case.get("assert")], sort_keys=True)


def _test_names(rows: Sequence[Answer]) -> dict[str, str]:
    """Names of tests that are the same in other files: descriptions, else variables."""
    tests = list(dict.fromkeys(row.test for row in rows))
    parsed = {test: json.loads(test) for test in tests}
    described = Counter(str(parsed[test][1]) for test in tests)
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for test in tests:
        variables, description, _ = parsed[test]
        if description and described[str(description)] == 1:
            name = str(description)
        else:
            name = _short(
                ", ".join(f"{key}={_text(value)}" for key, value in sorted(variables.items())) or "test"
            )
        taken[name] += 1
        names[test] = name if taken[name] == 1 else f"{name} #{taken[name]}"
    return names


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _short(name: str) -> str:
    line = " ".join(name.split())
    if len(line) <= _LONGEST_NAME:
        return line
    return f"{line[:_LONGEST_NAME]}… {hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _models(rows: Sequence[Answer], *, several: bool, rules: ExportRules) -> list[str]:
    """Models by row: the provider, with the prompt where several count; columns of one name are numbered."""
    columns: dict[tuple[Path, str], dict[str, int]] = defaultdict(dict)
    models = []
    for row in rows:
        name = model_of(row.path, row.provider, rules)
        if several:
            name = f"{name} [{row.prompt}]"
        places = columns[row.path, name]
        place = places.setdefault(row.column, len(places) + 1)
        models.append(name if place == 1 else f"{name} #{place}")
    return models


def _add(
    row: Answer, place: Mapping[str, str], general: Sequence[str], named: Sequence[str], gathering: Gathering
) -> None:
    place = {**place, "prompt": row.prompt}
    if row.failed:
        gathering.count("rows that ended in an error, whose score counts 0 as in promptfoo")
    said = {"asked": row.asked, "answered": within(row.row, "response", "output")}
    for metric in general:
        gathering.add(metric=metric, score=row.row.get(metric), **place, **said)
    scores = row.named_scores
    for metric in named:
        name = f"namedScores.{metric}" if metric in ("score", "success") else metric
        if metric in scores:
            gathering.add(metric=name, score=scores[metric], **place, **said)
        else:
            gathering.count(f"{name}: rows without a score")
            gathering.add(counted=True, metric=name, **place, **row.unscored)
