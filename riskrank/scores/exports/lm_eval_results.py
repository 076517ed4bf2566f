"""What an lm-eval results file says about the sample files beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from riskrank.errors import InputError, option
from riskrank.scores.exports.export_file import ExportFile
from riskrank.scores.exports.fields import Record, broken
from riskrank.scores.files.json_objects import shown

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


def run_of(file: ExportFile) -> Results | None:
    """The run of a sample file, by the results file beside it: of its date, else the only one there."""
    beside = sorted(file.path.parent.glob("results*"))
    there = {match[1] or "": path for path in beside if (match := RESULTS.match(path.name))}
    own = SAMPLES.match(file.path.name)
    found = there.get(own[2]) if own else None
    if found is None and len(there) == 1 and ("" in there or not own):
        found = next(iter(there.values()))
    return Results(file.beside(found)) if found else None
