"""AlpacaEval: ``annotations.json``, an annotator's preferences between a model and a reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from riskrank.errors import InputError
from riskrank.scores.exports.gathering import Gathering, files_of, model_of, refuse_rules
from riskrank.scores.exports.interface import Export, ExportRules, LabelledPath
from riskrank.scores.exports.readings import finish, keep_readings
from riskrank.scores.exports.records import holds, name, records, text

NAME = "alpaca-eval"
METRIC = "win_rate"


def recognises(path: Path) -> bool:
    """Whether this is a file of annotations."""
    return holds(path, "generator_1", "generator_2", "instruction")


def read(files: Sequence[LabelledPath], rules: ExportRules) -> Export:
    """Read preferences as the probability that the model, ``generator_2``, beats the reference.

    The sample is the instruction. Which annotator and which reference count is the rule `filters`.
    """
    refuse_rules(rules, NAME, uses=("filter",))
    gathering = Gathering(rules)
    gathering.direct(METRIC, "higher")

    def use(path: Path, data: bytes) -> None:
        for number, record in records(gathering, path, data):
            gathering.add(
                model=model_of(path, name(path, number, record, "generator_2"), rules),
                sample=name(path, number, record, "instruction"),
                metric=METRIC,
                value=_win_rate(path, number, record.get("preference")),
                annotator=text(path, number, record, "annotator"),
                reference=text(path, number, record, "generator_1"),
                dataset=text(path, number, record, "dataset"),
            )

    for path in files_of(files, recognises):
        gathering.take(path, partial(use, path))
    kinds = {"annotator": "annotators", "reference": "references"}
    return finish(keep_readings(gathering.export(), rules, kinds, where=NAME))


def _win_rate(path: Path, number: int, preference: object) -> object:
    """1 is a win of the reference, 2 one of the model; old files write 0 for a draw, newer ones 1.5."""
    if isinstance(preference, bool) or not isinstance(preference, int | float):
        return preference
    if preference == 0:
        return 0.5
    if preference < 1 or preference > 2:
        raise InputError(
            f"{path}: entry {number} has a preference outside 1 to 2",
            found=f"{preference!r}",
            hint="1 means that generator_1 wins, 2 that generator_2 does; check the annotator's output",
        )
    return preference - 1
