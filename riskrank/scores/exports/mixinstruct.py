"""MixInstruct (LLM-Blender): candidates of several models for each instruction, with their scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from riskrank.scores.exports.fields import an_object, objects
from riskrank.scores.exports.gathering import Gathering, files_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish, keep_readings
from riskrank.scores.exports.records import holds, name, records, text

NAME = "mixinstruct"


def recognises(path: Path) -> bool:
    """Whether this is a file of instructions with candidates."""
    return holds(path, "candidates", "decoding_method", "scores", "model")


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read the scores of every candidate; the sample is the instruction's id.

    Of candidates that differ in the way they were decoded, the rule `filters` says which one counts.
    """
    refuse_rules(rules, NAME, uses=("filter",))
    gathering = Gathering(rules)

    def use(path: Path, data: bytes) -> None:
        for number, record in records(gathering, path, data):
            sample = name(path, number, record, "id")
            if record.get("cmp_results"):
                gathering.count("instructions with pairwise votes (cmp_results), which are not read")
            for candidate in objects(f"{path}: entry {number}, candidates", record.get("candidates")):
                model = name(path, number, candidate, "model")
                decoding = text(path, number, candidate, "decoding_method")
                scores = an_object(f"{path}: entry {number}, scores", candidate.get("scores"))
                if not scores:
                    gathering.count("candidates without scores")
                for metric, value in scores.items():
                    # All of them: similarities to a reference, and log-probabilities.
                    gathering.direct(metric, "higher")
                    gathering.add(model=model, sample=sample, metric=metric, value=value, decoding=decoding)

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    kinds = {"decoding": "decoding methods"}
    return finish(keep_readings(gathering.export(), rules, kinds, where=NAME))
