"""Records of repeated looks at a growing table, which verify that no earlier score has changed."""

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

# Digest of the scores by metric, model and sample name.
Digests = Mapping[str, Mapping[str, Mapping[str, str]]]

# Maximum file size in bytes, enough for a few million samples.
MAX_BYTES = 1 << 28


@dataclass(frozen=True)
class Looks:
    """Record of all looks at a table so far.

    Attributes
    ----------
    number : int
        Number of this look, starting at 1.
    claims : sequence of str
        Descriptions of the claims and their settings, which must be the same at every look.
    seen : mapping
        Digests of the scores of every sample, by metric and model.
    """

    number: int
    claims: Sequence[str]
    seen: Digests

    def meta(self) -> dict[str, Any]:
        """Return the record as a ``meta`` entry."""
        return {"number": self.number, "claims": list(self.claims), "seen": self.seen}


def digest_scores(tables: Sequence[ScoreTable], claimed: Mapping[str, set[int]]) -> Digests:
    """Return short digests of each sample's scores, by metric and model.

    Parameters
    ----------
    tables : sequence of ScoreTable
    claimed : mapping of str to set of int
        Indices of the models in the claims, by metric.
    """
    digests: dict[str, dict[str, dict[str, str]]] = {}
    for table in tables:
        for number, metric in enumerate(table.metrics):
            if metric.name in claimed:
                digests[metric.name] = {
                    table.models[model]: _digest_samples(table, model, number)
                    for model in sorted(claimed[metric.name])
                }
    return digests


def _digest_samples(table: ScoreTable, model: int, metric: int) -> dict[str, str]:
    """Return a digest of the scores by sample; a missing score contributes both of its bounds.

    A score that is added later therefore changes the digest.
    """
    worst, rows = table.values[model][:, metric], table.row_samples[model]
    best = worst if table.best is None else table.best[model][:, metric]
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    digests = {}
    for sample_rows in map(slice, starts.tolist(), [*starts[1:].tolist(), len(rows)]):
        missing = not np.array_equal(worst[sample_rows], best[sample_rows])
        scores = np.stack([worst[sample_rows], best[sample_rows]], axis=1) if missing else worst[sample_rows]
        digest = hashlib.blake2b((scores + 0.0).tobytes(), digest_size=4)
        digests[table.samples[rows[sample_rows.start]]] = digest.hexdigest()
    return digests


def read_looks(path: str, limit: int) -> Looks:
    """Read the record of looks from the JSON output of an earlier gate.

    Parameters
    ----------
    path : str
    limit : int
        Largest file size in bytes.

    Raises
    ------
    InputError
        If the file does not exist or has no record of looks.
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
            f"{option('continues', path)}: {error.problem}",
            found=error.found,
            hint=f"leave out {option('continues')} at the first look, and keep the JSON that it writes",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InputError(
            f"{option('continues', path)}: not the JSON output of a gate with {option('anytime', True)}",
            found="no JSON with an entry meta.looks",
            hint=f"give the JSON that an earlier gate with {option('anytime', True)} wrote",
        ) from None


def require_continuation(path: str, previous: Looks, claims: Sequence[str], seen: Digests) -> None:
    """Raise an error unless a look continues the previous one.

    Parameters
    ----------
    path : str
        File with the record of the previous look.
    previous : Looks
    claims : sequence of str
        Claims of the current look.
    seen : mapping
        Digests of the current scores.

    Raises
    ------
    InputError
        If the claims differ, or a sample of the previous look is missing or changed.
    """
    changed = [*sorted(set(previous.claims) ^ set(claims))]
    if changed:
        raise InputError(
            f"{option('continues', path)} has other claims",
            found=f"'{changed[0]}' is a claim of only one of the two looks",
            hint="repeat the claims, margins, level and bounds of the first look",
        )
    for metric, models in previous.seen.items():
        for model, samples in models.items():
            current = seen.get(metric, {}).get(model, {})
            for verb, names in (
                ("lacks", [name for name in samples if name not in current]),
                ("changes", [name for name in samples if current.get(name, samples[name]) != samples[name]]),
            ):
                if names:
                    raise InputError(
                        f"scores that {option('continues', path)} used were removed or changed",
                        found=f"the table {verb} {len(names):,} of the {len(samples):,} earlier samples of "
                        f"{model} on {metric}, first '{names[0]}'",
                        hint="verdicts hold at every look only if no sample is removed or rescored: restore "
                        f"the scores, or start again on new samples without {option('continues')}",
                    )
