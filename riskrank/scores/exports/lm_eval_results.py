"""Results files of lm-eval, which describe the sample files in the same folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from riskrank.errors import InputError, option
from riskrank.scores.exports.reader import ExportFile, Record, export_error
from riskrank.scores.files.json_objects import preview

_DATE = r"(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)"
SUFFIX = r"(?:\.gz|\.zst)?$"
SAMPLES = re.compile(rf"^samples_(.+)_{_DATE}\.jsonl{SUFFIX}")
RESULTS = re.compile(rf"^results(?:_{_DATE})?\.json{SUFFIX}")
# Fields alongside the averages of a task.
_NO_METRICS = ("alias", "name", "sample_len")
# Model arguments that may hold the name, in the order in which the harness tries them.
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")


@dataclass(frozen=True)
class Results:
    """One results file; fields are type-checked when they are accessed."""

    document: Record

    def __post_init__(self) -> None:
        """Raise InputError if the document does not contain results."""
        if not isinstance(self.document.get("results"), dict):
            location = self.document.location
            raise export_error(f"{location}: no results of lm-eval", "a document without 'results'")

    @property
    def tasks(self) -> Record:
        """Aggregated results by task."""
        return self.document.get_record("results")

    def averages(self) -> Iterator[tuple[str, str, str, object]]:
        """Yield the task, filter, metric and average of every task that is not a group of tasks."""
        subtasks = self.document.get_record("group_subtasks")
        groups = {
            *self.document.get_record("groups"),
            *(name for name, members in subtasks.items() if members),
        }
        for task in self.tasks:
            for key, value in self._section(task, "results").items():
                metric, _, name = key.partition(",")
                if task not in groups and not metric.endswith("_stderr") and metric not in _NO_METRICS:
                    yield task, name or "none", metric, value

    @property
    def model(self) -> str | None:
        """Name of the model, from the file or from the model arguments."""
        named = self.document.get_text("model_name")
        if named:
            return named
        config = self.document.get_record("config")
        arguments = config.get("model_args")
        if isinstance(arguments, str):
            arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
        record = Record(config.location_of("model_args"), arguments)
        return next((record.get_name(key) for key in _MODEL_ARGUMENTS if record.get(key)), None)

    def filters(self, task: str) -> tuple[str, ...]:
        """Return the names of a task's filters, in row order."""
        entries = self._section(task, "configs").get_records("filter_list")
        return tuple(entry.get_name("name") for entry in entries) or ("none",)

    def metrics(self, task: str) -> tuple[str, ...]:
        """Return the aggregated metrics of a task, excluding standard errors."""
        names = [key.partition(",")[0] for key in self._section(task, "results") if "," in key]
        return tuple(dict.fromkeys(name for name in names if not name.endswith("_stderr")))

    def directions(self, task: str) -> dict[str, bool]:
        """Return whether higher is better, for each metric whose direction the file declares."""
        entries = self._section(task, "configs").get_records("metric_list")
        named = (entry for entry in entries if isinstance(entry.get("metric"), str))
        listed = {entry["metric"]: entry.get("higher_is_better") for entry in named}
        listed |= self._section(task, "higher_is_better")
        for name, is_higher in listed.items():
            if is_higher is not None and not isinstance(is_higher, bool):
                location = self.document.location_of("higher_is_better")
                raise InputError(
                    f"{location} of {task}, {name} is neither true nor false",
                    found=preview(is_higher),
                    hint=f"correct or remove it; {option('skip_bad', True)} ignores the run",
                )
        return {name: is_higher for name, is_higher in listed.items() if is_higher is not None}

    def evaluated_count(self, task: str) -> int | None:
        """Return the number of samples evaluated, or None if unknown."""
        count = self._section(task, "n-samples").get("effective")
        return count if isinstance(count, int) else None

    def _section(self, task: str, part: str) -> Record:
        """Return the section of the document for one task."""
        return self.document.get_record(part).get_record(task)


def find_results(file: ExportFile) -> Results | None:
    """Return the results of the run to which a sample file belongs, or None if there are none.

    The results file has the same date as the sample file, or is the only results file in its folder.
    """
    candidates = sorted(file.path.parent.glob("results*"))
    paths_by_date = {match[1] or "": path for path in candidates if (match := RESULTS.match(path.name))}
    samples_match = SAMPLES.match(file.path.name)
    results_path = paths_by_date.get(samples_match[2]) if samples_match else None
    if results_path is None and len(paths_by_date) == 1 and ("" in paths_by_date or not samples_match):
        results_path = next(iter(paths_by_date.values()))
    return Results(file.read_optional(results_path)) if results_path else None
