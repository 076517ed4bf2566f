"""How HELM changed instances: a perturbation's name, and its settings where they are needed to tell it."""

import json
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from riskrank.errors import UsageError, listing, option
from riskrank.scores.exports.fields import a_name, an_object


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """How an instance was changed: the name of the way, and its settings as JSON."""

    name: str
    settings: str


class PerturbationNames:
    """Names of perturbations; those of different settings somewhere carry them everywhere."""

    def __init__(self, ambiguous: Set[str]) -> None:
        self._ambiguous = ambiguous
        self._names: dict[Perturbation | None, str] = {None: ""}

    def of(self, found: Perturbation | None) -> str:
        """Name of what changed an instance, empty where nothing did."""
        if found not in self._names:
            assert found is not None
            settings = json.loads(found.settings) if found.name in self._ambiguous else {}
            shown = ",".join(f"{key}={_plain(value)}" for key, value in sorted(settings.items()))
            self._names[found] = f"{found.name}({shown})" if found.name in self._ambiguous else found.name
        return self._names[found]


def perturbation_of(place: str, changed: object) -> Perturbation | None:
    """What changed an instance, if anything did."""
    found = an_object(place, changed)
    if not found:
        return None
    # What a perturbation is for, and which of two answers counts, is no setting of it.
    ignored = ("name", "robustness", "fairness", "computed_on")
    settings = {key: value for key, value in found.items() if key not in ignored}
    return Perturbation(
        name=a_name(f"{place}: name", found.get("name"), otherwise="perturbed"),
        settings=json.dumps(settings, sort_keys=True),
    )


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
