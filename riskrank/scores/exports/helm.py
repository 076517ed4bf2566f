"""What HELM writes: a folder a run, with ``per_instance_stats.json`` and ``run_spec.json``, in one a suite.

Train trials are draws of an instance. Splits and perturbations are kept apart: entries that were perturbed
repeat the instance's identifier.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from riskrank.errors import UsageError, listing, option
from riskrank.scores.exports.fields import Record, wrong_type
from riskrank.scores.exports.gathering import Gathering, check_used, choose, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath, within
from riskrank.scores.files.beginnings import first_bytes

NAME = "helm"

# What HELM counts and times beside its metrics.
_BOOKKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*|.*inference_.*runtime.*|batch_size|prompt_truncated|max_prob|logprob"
)


@dataclass(frozen=True, kw_only=True)
class _Perturbation:
    """How an instance was changed: the name of the way, and its settings as JSON."""

    name: str
    settings: str


_Names = dict[_Perturbation | None, str]


@dataclass(frozen=True, kw_only=True)
class _Score:
    """One statistic of one instance in one trial."""

    instance: str
    trial: str
    split: str
    perturbation: _Perturbation | None
    metric: str
    value: object


@dataclass(frozen=True, kw_only=True)
class _Run:
    path: Path
    model: str
    task: str
    groups: Sequence[object]
    scores: Sequence[_Score]


def recognises(path: Path) -> bool:
    """Whether a file holds statistics of instances."""
    if path.suffix != ".json":
        return False
    head = first_bytes(path)
    return head[:1] == b"[" and b'"instance_id"' in head and b'"stats"' in head


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read runs, each of one model on one scenario.

    Parameters
    ----------
    files : sequence of LabelledPath
        ``per_instance_stats.json`` files, or folders of runs.
    rules : ExportRules
        `splits` picks splits (``test``) and perturbations (``test:misspellings``); `metrics` may name what
        HELM counts beside its metrics, which is left out otherwise.

    Returns
    -------
    Export
        A sample is ``scenario/instance``, a draw a train trial; further columns are ``task``, ``split`` and
        ``perturbation``.

    Raises
    ------
    InputError, UsageError
    """
    return read_groups([files], rules)[0]


def read_groups(groups: Sequence[Sequence[LabelledPath]], rules: ExportRules) -> list[Export]:
    """Read runs in groups that are compared with each other: a perturbation has one name in all of them."""
    refuse_rules(rules, NAME, uses=("split",))
    gathered = [_gathered(files, rules) for files in groups]
    everywhere = [score for _, runs in gathered for run in runs for score in run.scores]
    names = _names_of(score.perturbation for score in everywhere)
    _refuse_ambiguous(rules.splits, dict.fromkeys(_part(score, names) for score in everywhere))
    return [_export(gathering, runs, names) for gathering, runs in gathered]


def _part(score: _Score, names: _Names) -> str:
    """Split and perturbation, as the rule for splits names them."""
    perturbation = names[score.perturbation]
    return f"{score.split}:{perturbation}" if perturbation else score.split


def _gathered(files: Sequence[LabelledPath], rules: ExportRules) -> tuple[Gathering, list[_Run]]:
    gathering = Gathering(rules)
    label = files[0].label if files else None
    runs: list[_Run] = []
    for path in files_of(files, recognises):
        if path.name in ("run_spec.json", "stats.json", "scenario.json", "schema.json"):
            continue  # named by a pattern over the folder
        gathering.take(path, partial(_read_run, path, gathering, runs, label))
    for folder in dict.fromkeys(run.path.parent.parent for run in runs):
        path = folder / "schema.json"  # which helm-summarize writes beside the runs of a suite
        if path.is_file():
            inside = [run for run in runs if run.path.parent.parent == folder]
            gathering.take(path, partial(_read_schema, path, gathering, inside))
    return gathering, runs


def _read_schema(path: Path, gathering: Gathering, runs: Sequence[_Run], data: bytes) -> None:
    """Which way metrics are better, and by which one the scenarios of a group are judged."""
    schema = gathering.document(path, data)
    main: dict[str, str] = {}
    for group in schema.entries("run_groups"):
        name = within(group, "environment", "main_name")
        if isinstance(group.get("name"), str) and isinstance(name, str):
            main[group["name"]] = name
    for run in runs:
        judged = next((main[group] for group in map(str, run.groups) if group in main), None)
        if judged is not None:
            gathering.judge_by(run.task, judged)
    for metric in schema.entries("metrics"):
        lower = metric.get("lower_is_better")
        if isinstance(metric.get("name"), str) and isinstance(lower, bool):
            gathering.direct(metric["name"], "lower" if lower else "higher", of=str(path))


def _export(gathering: Gathering, runs: Sequence[_Run], names: _Names) -> Export:
    rules = gathering.rules
    parts: dict[str, dict[str, None]] = defaultdict(dict)
    for run in runs:
        parts[run.task].update(dict.fromkeys(_part(score, names) for score in run.scores))
    if runs:
        check_used("split", rules.splits, [part for there in parts.values() for part in there])
    kept = {
        task: choose("split", rules.splits, there, what="splits or perturbations", where=f"scenario {task}")
        for task, there in parts.items()
    }
    repeated = gathering.note_repeats((run.model, run.task, run.path) for run in runs)
    for run in runs:
        several = (run.model, run.task) in repeated
        gathering.attempt(run.path, partial(_add, run, kept[run.task], gathering, names, several=several))
    return gathering.export()


def _read_run(path: Path, gathering: Gathering, runs: list[_Run], label: str | None, data: bytes) -> None:
    beside = path.with_name("run_spec.json")
    spec = gathering.beside(beside)
    asked = gathering.rules.metrics
    wanted = {*asked, *(text[at + 1 :] for text in asked for at, sign in enumerate(text) if sign == "=")}
    scores, left_out = [], set()
    for entry in gathering.records(path, data):
        instance, trial = entry.name("instance_id"), entry.text("train_trial_index", "0")
        if entry.get("stats") is None:
            raise wrong_type(entry.at("stats"), "a list of objects", None)
        for stat in entry.entries("stats"):
            name = stat.inner("name")
            metric = name.name("name")
            if _BOOKKEEPING.fullmatch(metric) and metric not in wanted:
                left_out.add(metric)
                continue
            changed = (entry if entry.get("perturbation") else name).inner("perturbation")
            scores.append(
                _Score(
                    instance=instance,
                    trial=trial,
                    split=name.text("split", "all"),
                    perturbation=_perturbation_of(changed),
                    metric=metric,
                    value=stat.get("mean"),
                )
            )
    if left_out:
        gathering.note(
            f"left out as bookkeeping ({option('metric')} keeps what it names): "
            f"{listing(sorted(left_out), 30)}"
        )
    logged = spec.inner("adapter_spec").text("model")
    runs.append(
        _Run(
            path=path,
            model=model_of(path, logged, gathering.rules, label=label),
            task=_task(spec.text("name", path.parent.name)),
            groups=spec.listed("groups"),
            scores=scores,
        )
    )


def _task(name: str) -> str:
    """Scenario and its arguments, without the model; a folder may write - for the colon."""
    scenario, colon, arguments = name.partition(":")
    if not colon and "=" in name:
        head, _, first = name.partition("=")
        scenario, _, key = head.rpartition("-")
        arguments = f"{key}={first}"
    kept = [
        part for part in arguments.split(",") if part and not part.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _add(run: _Run, kept: tuple[str, ...], gathering: Gathering, names: _Names, *, several: bool) -> None:
    for score in run.scores:
        if _part(score, names) not in kept:
            continue
        perturbation = names[score.perturbation]
        # Pooled with others, a changed instance is a sample of its own.
        apart = f":{perturbation}" if perturbation and len(kept) > 1 else ""
        columns = {"task": run.task, "split": score.split}
        gathering.add(
            model=run.model,
            sample=f"{run.task}/{score.instance}{apart}",
            metric=score.metric,
            score=score.value,
            draw=f"{run.path.parent} {score.trial}" if several else score.trial,
            **(columns | {"perturbation": perturbation} if perturbation else columns),
        )


def _names_of(found: Iterable[_Perturbation | None]) -> _Names:
    """_Names of what changed instances; those of different settings somewhere carry them everywhere."""
    there = {one for one in found if one is not None}
    counts = Counter(one.name for one in there)
    return {None: ""} | {one: _with_settings(one) if counts[one.name] > 1 else one.name for one in there}


def _with_settings(found: _Perturbation) -> str:
    settings = sorted(json.loads(found.settings).items())
    return f"{found.name}({','.join(f'{key}={_plain(value)}' for key, value in settings)})"


def _perturbation_of(changed: Record) -> _Perturbation | None:
    """What changed an instance, if anything did."""
    # What a perturbation is for, and which of two answers counts, is no setting of it.
    ignored = ("name", "robustness", "fairness", "computed_on")
    settings = {key: value for key, value in changed.items() if key not in ignored}
    name = changed.text("name", "perturbed")
    return _Perturbation(name=name, settings=json.dumps(settings, sort_keys=True)) if changed else None


def _refuse_ambiguous(asked: Sequence[str], there: Iterable[str]) -> None:
    """Refuse the bare name of perturbations that differ in their settings: any of them could be meant."""
    there = tuple(there)
    for name in asked:
        meant = [part for part in there if part.startswith(f"{name}(")]
        if len(meant) > 1 and name not in there:
            raise UsageError(
                f"{option('split', name)}: {len(meant)} perturbations of that name, with different settings",
                found=listing(sorted(meant), 20),
                hint="name the one that counts, with its settings",
            )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
