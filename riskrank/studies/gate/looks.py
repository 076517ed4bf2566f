"""What a look at a growing table saw, so that the next one can tell that nothing was taken back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.errors import InputError, option
from riskrank.scores.files.contents import read_bytes
from riskrank.scores.files.guards import Budget
from riskrank.scores.table.score_table import ScoreTable

# Sample names by metric and model, each with a digest of its scores.
Seen = Mapping[str, Mapping[str, Mapping[str, str]]]


# Largest document of looks: a digest of a few million samples.
MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Looks:
    """Looks at one table so far.

    Attributes
    ----------
    number : int
        1 for the first.
    claims : sequence of str
        Names of the claims, with what decides them; the same at every look.
    seen : mapping
        Digests of the scores of every sample, by metric and model.
    """

    number: int
    claims: Sequence[str]
    seen: Seen

    def meta(self) -> dict[str, Any]:
        """As the document tells it."""
        return {"number": self.number, "claims": list(self.claims), "seen": self.seen}


def digests(tables: Sequence[ScoreTable], wanted: Mapping[str, set[int]]) -> Seen:
    """A short digest of the scores of every sample of some models, by metric.

    Parameters
    ----------
    tables : sequence of ScoreTable
    wanted : mapping of str to set of int
        Numbers of the models that claims are about, by metric.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for table in tables:
        for number, metric in enumerate(table.metrics):
            if metric.name in wanted:
                found[metric.name] = {
                    table.models[model]: _of_samples(table, model, number)
                    for model in sorted(wanted[metric.name])
                }
    return found


def _of_samples(table: ScoreTable, model: int, metric: int) -> dict[str, str]:
    """Digest the scores of each sample; missing ones by both bounds, so that filling one in is a change."""
    worst, rows = table.values[model][:, metric], table.row_samples[model]
    best = worst if table.best is None else table.best[model][:, metric]
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    digests = {}
    for own in map(slice, starts.tolist(), [*starts[1:].tolist(), len(rows)]):
        missing = not np.array_equal(worst[own], best[own])
        scores = np.stack([worst[own], best[own]], axis=1) if missing else worst[own]
        digest = hashlib.blake2b((scores + 0.0).tobytes(), digest_size=4)
        digests[table.samples[rows[own.start]]] = digest.hexdigest()
    return digests


def read_looks(path: str, limit: int) -> Looks:
    """The looks that an earlier run wrote, in a file of at most so many bytes.

    Raises
    ------
    InputError
        If there is no such file, or it is no gate that may be looked at again.
    """
    try:
        meta = json.loads(read_bytes(path, Budget(limit)))["meta"]["looks"]
        seen = {
            metric: {model: dict(samples) for model, samples in models.items()}
            for metric, models in meta["seen"].items()
        }
        return Looks(int(meta["number"]), [*map(str, meta["claims"])], seen)
    except InputError as error:
        raise InputError(
            f"{option('continues', path)}: {error.what}",
            found=error.found,
            hint=f"leave {option('continues')} out at the first look, and keep its JSON",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InputError(
            f"{option('continues', path)}: not a gate that may be looked at again",
            found="no JSON with meta.looks in it",
            hint=f"give the JSON that an earlier gate with {option('anytime', True)} wrote",
        ) from None


def require_continued(path: str, before: Looks, claims: Sequence[str], seen: Seen) -> None:
    """Refuse a look at other claims, or at a table that lacks or changes a sample of the one before.

    Raises
    ------
    InputError
    """
    changed = [*sorted(set(before.claims) ^ set(claims))]
    if changed:
        raise InputError(
            f"{option('continues', path)} was about other claims",
            found=f"'{changed[0]}' is in one of the two only",
            hint="looks continue each other only with the claims, margins, level and bounds of the first",
        )
    for metric, models in before.seen.items():
        for model, samples in models.items():
            now = seen.get(metric, {}).get(model, {})
            for what, strays in (
                ("lacks", [name for name in samples if name not in now]),
                ("changes", [name for name in samples if now.get(name, samples[name]) != samples[name]]),
            ):
                if strays:
                    raise InputError(
                        f"the scores take back what {option('continues', path)} saw",
                        found=f"the table {what} {len(strays):,} of its {len(samples):,} samples of {model} "
                        f"on {metric}, '{strays[0]}' first",
                        hint="answers hold at every look only if no sample is taken out or scored anew: give "
                        f"the scores back, or begin afresh, on new samples, without {option('continues')}",
                    )
