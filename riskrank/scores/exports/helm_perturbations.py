"""How HELM changed instances: a perturbation's name, and its settings where they are needed to tell it."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from riskrank.errors import UsageError, listing, option
from riskrank.scores.exports.fields import Record


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """How an instance was changed: the name of the way, and its settings as JSON."""

    name: str
    settings: str


Names = dict[Perturbation | None, str]


def names_of(found: Iterable[Perturbation | None]) -> Names:
    """Names of what changed instances; those of different settings somewhere carry them everywhere."""
    there = {one for one in found if one is not None}
    counts = Counter(one.name for one in there)
    return {None: ""} | {one: _with_settings(one) if counts[one.name] > 1 else one.name for one in there}


def _with_settings(found: Perturbation) -> str:
    settings = sorted(json.loads(found.settings).items())
    return f"{found.name}({','.join(f'{key}={_plain(value)}' for key, value in settings)})"


def perturbation_of(changed: Record) -> Perturbation | None:
    """What changed an instance, if anything did."""
    # What a perturbation is for, and which of two answers counts, is no setting of it.
    ignored = ("name", "robustness", "fairness", "computed_on")
    settings = {key: value for key, value in changed.items() if key not in ignored}
    name = changed.text("name", "perturbed")
    return Perturbation(name=name, settings=json.dumps(settings, sort_keys=True)) if changed else None


def refuse_ambiguous(asked: Sequence[str], there: Iterable[str]) -> None:
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
