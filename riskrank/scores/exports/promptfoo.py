"""promptfoo: results of ``--output`` as JSON or JSON Lines.

Each column of its table is a combination of prompt and provider. Each repeat of a test has its own number,
and the file does not mark repeats. Rows with the same test and column are therefore treated as repeats.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import InputError
from riskrank.scores.exports import reader
from riskrank.scores.exports.selection import require_known_values, select_values
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.parsing import ERROR, REFUSAL, UNSCORED, message_text, plain_text, preview

_LONGEST_NAME = 80
_ERROR = 2  # failureReason of a row that ended in an error (1 means a failed assertion)
# Marks of a CSV table, whose scores are rounded to two decimals.
_TABLE = re.compile(rb',Status,Score,Named Scores|,Grader Reason,Comment|[,\n]"?\[(PASS|FAIL|ERROR)\] \(\d')
_GENERAL = ("score", "success")
_COLUMN = "(column)"


def recognises(path: Path) -> bool:
    """Return whether a file contains results of promptfoo."""
    head = first_bytes(path)
    if _has_suffix(path, ".csv"):
        return bool(_TABLE.search(head))
    if path.suffix == ".jsonl":
        return b'"namedScores"' in head and (b'"promptIdx"' in head or b'"promptId"' in head)
    if path.suffix != ".json" or head[:1] != b"{":
        return False
    return b'"evalId"' in head[:200] or (b'"results"' in head[:200] and b'"provider"' in head)


def _has_suffix(path: Path, suffix: str) -> bool:
    """Return True if a file name ends in a suffix, ignoring a compression suffix."""
    return path.name.removesuffix(".gz").removesuffix(".zst").endswith(suffix)


def is_preferred(path: Path) -> bool:
    """Return True unless a promptfoo file is CSV.

    Scores in CSV exports are rounded, so files in other formats are preferred to those in the same folder.
    """
    return not _has_suffix(path, ".csv")


def finish(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Return the rows of the requested promptfoo prompts, with distinct names of tests and models.

    If several prompts are kept, each combination of prompt and provider is a model. Columns with the same
    name are numbered. `collector` holds the options.
    """
    prompts, requested = rows["prompt"].unique(maintain_order=True).to_list(), collector.options.filter
    require_known_values("filter", requested, prompts)
    selected = select_values("filter", requested, prompts, plural="prompts", context=collector.path_of(0))
    rows = rows.filter(pl.col("prompt").is_in(selected))
    if len(selected) > 1:
        rows = rows.with_columns(model=pl.format("{} [{}]", "model", "prompt"))
    position = pl.col(_COLUMN).cast(pl.Int64, strict=False).rank("dense").over(reader.FILE, "model")
    numbered_model = pl.when(position > 1).then(pl.format("{} #{}", "model", position)).otherwise("model")
    names = _test_names(rows["sample"].unique(maintain_order=True))
    rows = rows.with_columns(model=numbered_model, sample=pl.col("sample").replace_strict(names))
    needs_texts = pl.col("sample").is_in([*collector.samples_with_texts])
    return rows.drop(_COLUMN).with_columns(pl.when(needs_texts).then(pl.col(r"^\((input|output)\)$")))


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the scores in a promptfoo file: ``score``, ``success`` and named scores of several models.

    A sample is a test. The option `filter` selects prompts.
    """
    rows, columns, evaluation = _read_results(file)
    ids = {row["id"] for row in rows if isinstance(row.get("id"), str)}
    file.collector.set_run(sorted(ids) if len(ids) == len(rows) else evaluation)
    tests = [_test_key(row) for row in rows]
    metrics_by_test: dict[str, dict[str, None]] = defaultdict(dict)
    for row, test in zip(rows, tests, strict=True):
        metrics_by_test[test] |= dict.fromkeys(row.get_record("namedScores"))
    for row, test in zip(rows, tests, strict=True):
        about = {"model": file.model_name(_provider_name(row)), "sample": test}
        about |= {"prompt": _prompt_name(row, columns), _COLUMN: row.get_text("promptIdx")}
        if file.collector.samples_with_texts:
            input_text = reader.get_nested(row, "prompt", "raw") or row.get("vars")
            about[reader.INPUT_TEXT] = message_text(input_text)
            about[reader.OUTPUT_TEXT] = message_text(reader.get_nested(row, "response", "output"))
        if _is_failed(row):
            file.count("rows that ended in an error, scored 0 as in promptfoo")
        yield from ({"metric": metric, "score": row.get(metric), **about} for metric in _GENERAL)
        scores = row.get_record("namedScores")
        for metric in metrics_by_test[test]:
            name = f"namedScores.{metric}" if metric in _GENERAL else metric
            reason = {} if metric in scores else _missing_reason(row)
            yield {"metric": name, "score": scores.get(metric), **about, **reason}


def _read_results(file: reader.ExportFile) -> tuple[Sequence[reader.Record], Sequence[Any], str]:
    """Return the rows, the columns of the table and the evaluation id of a promptfoo file.

    Columns and id are empty if the file does not state them.
    """
    if _has_suffix(file.path, ".csv"):
        problem = f"{file.path}: the CSV of promptfoo is for display, with scores rounded to two decimals"
        hint = "use the JSON: promptfoo eval --output results.json"
        raise InputError(problem, found="columns of answers with their status", hint=hint)
    columns, evaluation = list[Any](), ""
    if _has_suffix(file.path, ".jsonl"):
        rows = [*file.lines()]
    else:
        document = file.document()
        part, evaluation = document.get_record("results"), document.get_text("evalId")
        rows, columns = part.get_records("results"), part.get_list("prompts")
    if not rows:
        raise reader.export_error(f"{file.path}: the file has no rows", "an empty list")
    return rows, columns, evaluation


def _is_failed(row: Mapping[str, Any]) -> bool:
    """Return True if the run of a row ended in an error, and not in a failed assertion.

    The field `error` alone does not decide this, because it may also report a failed assertion.
    """
    reason = row.get("failureReason")
    if reason is not None:
        return bool(reason == _ERROR)
    return bool(row.get("error")) and not row.get("gradingResult")


def _missing_reason(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the reason for a missing score in a row, by the name of its column.

    The dictionary is empty if the row states no reason.
    """
    if reader.get_nested(row, "response", "isRefusal") is True:
        return {UNSCORED: REFUSAL}
    return {UNSCORED: ERROR} if _is_failed(row) else {}


def _provider_name(row: reader.Record) -> str:
    """Return the label or id of a row's provider. Raise InputError if the row does not name one."""
    provider = row.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    if not isinstance(provider, str) or not provider:
        raise reader.export_error(f"{row.location} has no provider", preview(row))
    return provider


def _prompt_name(row: reader.Record, columns: Sequence[Any]) -> str:
    """Return the label of a row's prompt, or otherwise its template.

    `columns` are those of the table. The prompt stored in a row has its variables filled in and is therefore
    not used.
    """
    index = row.get("promptIdx")
    column = columns[index] if isinstance(index, int) and 0 <= index < len(columns) else None
    entry = reader.Record(f"{row.location}, entry in results.prompts", column)
    for source in (entry, row.get_record("prompt")):
        name = source.get("label") or source.get("display")
        if isinstance(name, str) and name:
            return name
    identifier = row.get("promptId") or entry.get("raw")
    return reader.parse_name(row.location_of("promptId"), identifier, default="prompt")


def _test_key(row: reader.Record) -> str:
    """Return a text that identifies the test of a row: its variables, description and assertions.

    The text is the same for all repeats of a test.
    """
    case = row.get_record("testCase")
    variables = (row if row.get("vars") else case).get_record("vars")
    return json.dumps([variables, case.get_text("description") or None, case.get("assert")], sort_keys=True)


def _test_names(tests: Iterable[str]) -> dict[str, str]:
    """Return a short name for each test, which is the same in every file.

    A test is named by its description if descriptions are unique, and otherwise by its variables.
    """
    parsed = {test: json.loads(test) for test in tests}
    described = Counter(str(description) for _, description, _ in parsed.values())
    names = []
    for variables, description, _ in parsed.values():
        name = str(description)
        if not description or described[name] > 1:
            settings = (f"{key}={plain_text(value)}" for key, value in sorted(variables.items()))
            name = _shorten(", ".join(settings))
        names.append(name.encode(errors="replace").decode())  # a table cannot store lone surrogates
    return dict(zip(parsed, reader.number_duplicates(names), strict=True))


def _shorten(name: str) -> str:
    """Shorten a name to one line, with a hash that keeps long names distinct."""
    line = " ".join(name.split()) or "test"
    if len(line) <= _LONGEST_NAME:
        return line
    return f"{line[:_LONGEST_NAME]}… {hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
