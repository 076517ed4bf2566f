"""What an lm-eval results file says about the sample files beside it, and these of questions and answers."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.exports.gathering import Gathering
from riskrank.scores.exports.interface import ANSWERED, ASKED, likeliest, within
from riskrank.scores.files.json_objects import as_text, shown

_DATE = r"(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)"
SUFFIX = r"(?:\.gz|\.zst)?$"
SAMPLES = re.compile(rf"^samples_(.+)_{_DATE}\.jsonl{SUFFIX}")
RESULTS = re.compile(rf"^results(?:_{_DATE})?\.json{SUFFIX}")
# What stands beside the averages of a task.
_NO_METRICS = ("alias", "name", "sample_len")
# Where a model's name stands among its arguments, in the order the harness itself looks.
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")


@dataclass(frozen=True)
class Results:
    """One results file. What has a type it cannot have is refused where it is asked for."""

    document: Record

    def __post_init__(self) -> None:
        """Refuse a document that is none."""
        if not isinstance(self.document.get("results"), dict):
            place = self.document.place
            raise broken(f"{place}: no results of lm-eval in it", "a document without 'results'")

    @property
    def tasks(self) -> Record:
        """Aggregates by task."""
        return self.document.inner("results")

    def averages(self) -> Iterator[tuple[str, str, str, object]]:
        """Task, filter, metric and average, of tasks that are no groups of others."""
        parts = self.document.inner("group_subtasks")
        whole = {*self.document.inner("groups"), *(name for name, of in parts.items() if of)}
        for task in self.tasks:
            for key, value in self._of(task, "results").items():
                metric, _, name = key.partition(",")
                if task not in whole and not metric.endswith("_stderr") and metric not in _NO_METRICS:
                    yield task, name or "none", metric, value

    @property
    def model(self) -> str | None:
        """Name of the model, or its name among the model's arguments."""
        named = self.document.text("model_name")
        if named:
            return named
        config = self.document.inner("config")
        arguments = config.get("model_args")
        if isinstance(arguments, str):
            arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
        found = Record(config.at("model_args"), arguments)
        return next((found.name(key) for key in _MODEL_ARGUMENTS if found.get(key)), None)

    def filters(self, task: str) -> tuple[str, ...]:
        """Names of the filters in the order of their rows."""
        found = self._of(task, "configs").entries("filter_list")
        return tuple(entry.name("name") for entry in found) or ("none",)

    def metrics(self, task: str) -> tuple[str, ...]:
        """Metrics that have an aggregate; keys are ``metric,filter``, with standard errors among them."""
        names = [key.partition(",")[0] for key in self._of(task, "results") if "," in key]
        return tuple(dict.fromkeys(name for name in names if not name.endswith("_stderr")))

    def directions(self, task: str) -> dict[str, bool]:
        """Whether higher is better, of the metrics of which the file says so."""
        entries = self._of(task, "configs").entries("metric_list")
        named = (entry for entry in entries if isinstance(entry.get("metric"), str))
        listed = {entry["metric"]: entry.get("higher_is_better") for entry in named}
        listed |= self._of(task, "higher_is_better")
        for name, up in listed.items():
            if up is not None and not isinstance(up, bool):
                raise InputError(
                    f"{self.document.at('higher_is_better')} of {task}, {name} is neither true nor false",
                    found=shown(up),
                    hint=f"correct it, or take it out; {option('skip_bad', True)} leaves out the run",
                )
        return {name: up for name, up in listed.items() if up is not None}

    def evaluated(self, task: str) -> int | None:
        """Samples that were evaluated."""
        found = self._of(task, "n-samples").get("effective")
        return found if isinstance(found, int) else None

    def _of(self, task: str, part: str) -> Record:
        """What a part of the document holds about a task."""
        return self.document.inner(part).inner(task)


class Runs:
    """Results files, read once each, found by the folder and date of a sample file."""

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering
        self.cut_short: list[str] = []
        self._folders: dict[Path, dict[str, Path]] = {}
        self._read: dict[Path, Results] = {}

    def of(self, path: Path) -> Results | None:
        """The run of a sample file: of its date, else the only one of the folder."""
        folder = path.parent
        if folder not in self._folders:
            found = ((RESULTS.match(entry.name), entry) for entry in sorted(folder.iterdir()))
            self._folders[folder] = {match[1] or "": entry for match, entry in found if match}
        there = self._folders[folder]
        match = SAMPLES.match(path.name)
        if match and match[2] in there:
            return self._open(there[match[2]])
        if len(there) == 1 and ("" in there or not match):
            return self._open(next(iter(there.values())))
        return None

    def _open(self, path: Path) -> Results:
        if path not in self._read:
            self._read[path] = Results(self._gathering.document(path))
        return self._read[path]


# Fields of a document that hold what is asked, as tasks call them; else the document is shown.
_QUESTIONS = ("question", "query", "problem", "prompt", "input", "instruction", "text")
_SCHEMA = dict.fromkeys(("doc", "filter", ASKED, ANSWERED), pl.String)


def with_texts(frame: pl.DataFrame, rows: Iterable[Mapping[str, Any]], docs: Collection[str]) -> pl.DataFrame:
    """Scores of a sample file with the texts of some documents.

    Parameters
    ----------
    frame : DataFrame
        Columns ``doc`` and ``filter`` among others.
    rows : iterable of mapping
        Lines of the file.
    docs : collection of str
        Documents whose texts are wanted.
    """
    found: dict[tuple[str, str | None], tuple[str, str]] = {}
    for row in rows:
        doc, name = str(row.get("doc_id")), row.get("filter")
        if doc in docs and (name is None or isinstance(name, str)):
            found.setdefault((doc, name), (_asked(row.get("doc")), _answered(row, name)))
    told = [(*key, *texts) for key, texts in found.items()]
    texts = pl.DataFrame(told, schema=_SCHEMA, orient="row")
    named = texts.filter(pl.col("filter").is_not_null())
    if named.height or not texts.height:
        return frame.join(named, on=["doc", "filter"], how="left", maintain_order="left")
    # Before 0.4.5 rows do not name their filter, and all of a document have one answer.
    return frame.join(texts.drop("filter"), on="doc", how="left", maintain_order="left")


def _asked(document: object) -> str:
    fields: Mapping[str, Any] = document if isinstance(document, dict) else {}
    return as_text(next((fields[name] for name in _QUESTIONS if isinstance(fields.get(name), str)), document))


def _answered(row: Mapping[str, Any], name: str | None) -> str:
    """What the filter made of the responses, or the likeliest choice; the responses of no named filter."""
    filtered = row.get("filtered_resps")
    said = row.get("resps") if name is None or filtered is None else filtered
    # Choices are logged as pairs: log-likelihood, and whether it is what the model would have written.
    flat = [
        one[0] if name is None and isinstance(one, list) and len(one) == 1 else one for one in _listed(said)
    ]
    if len(flat) > 1 and all(isinstance(one, list) and len(one) == 2 for one in flat):
        chosen = likeliest([one[0] for one in flat], within(row, "doc", "choices"))
        return as_text(said) if chosen is None else chosen
    return as_text(said)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
