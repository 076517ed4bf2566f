"""Anytime-valid tests of claims, by betting instead of resampling (method §9), and records of their looks.

A record verifies that no earlier score of a growing table has changed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.evidence.e_values import Bet, Wagers
from riskrank.engine.sampling.variance_components import cluster_means
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.files.contents import read_bytes
from riskrank.scores.files.guards import Budget
from riskrank.scores.table.metric_specs import bounds_hint
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.gate.claim import GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.settings import family_from_settings

# Digest of the scores by metric, model and sample name.
Digests = Mapping[str, Mapping[str, Mapping[str, str]]]

# Maximum file size in bytes, enough for a few million samples.
MAX_BYTES = 1 << 28


@dataclass(frozen=True)
class Looks:
    """Record of all looks (interim analyses) at a growing table.

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


def betting_test(claim: GateClaim, *, settings: ClaimSettings) -> Bet:
    """Return the betting test of a claim, based on all samples so far.

    Parameters
    ----------
    claim : GateClaim
    settings : ClaimSettings

    Raises
    ------
    UsageError
        If the claim does not compare means of bounded scores on paired samples, or the largest cluster size
        is not declared.
    InputError
        If a cluster is larger than declared.
    """
    column = claim.column
    if not claim.compares_means or column.units.relative or claim.is_level or claim.share is not None:
        problem = f"{option('anytime', True)} supports only differences of means"
        hint = f"leave out {option('anytime', True)} to look once, or claim {option('on', 'mean')}"
        raise UsageError(problem, found=f"{option('on', claim.statistic)}", hint=hint)
    width, scores, declared = _declared_width(column), column.scores, settings.largest_cluster
    # Size the bets for the declared largest cluster at every look. Larger bets, made while every cluster has
    # one sample, could win wealth that a later look with larger clusters cannot revoke.
    clusters = None if declared is None else np.arange(scores.cluster_counts[0])
    if scores.has_nested_samples:
        clusters = scores.sample_clusters()[0]
    means = scores.sample_means()
    gains = means[claim.new] - means[claim.old]
    largest = 1 if clusters is None else declared
    assert largest is not None
    if clusters is not None and int(np.bincount(clusters).max()) > largest:
        problem = f"a cluster is larger than {option('largest_cluster', largest)} allows"
        hint = "declare the largest size that a cluster can ever have, before you look at the scores"
        raise InputError(problem, found=f"a cluster of {int(np.bincount(clusters).max())} samples", hint=hint)
    # Rounding in means of repeats must not push a difference beyond the bounds.
    wagers = Wagers.from_differences(np.clip(gains, -width, width), width, clusters=clusters, largest=largest)
    units = np.arange(len(gains)) if clusters is None else clusters
    error = float(cluster_means(gains[:, None], units).error[0])  # sets the digits in the output
    return Bet(float(gains.mean()), claim.boundary, error, int(units.max()) + 1, wagers)


def record_look(tables: Sequence[ScoreTable], settings: ClaimSettings, claims: Sequence[GateClaim]) -> Looks:
    """Return the record of this look, after checking that it continues the previous look.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings
        Includes the path to the record of the previous look.
    claims : sequence of GateClaim

    Raises
    ------
    InputError
        If the claims differ from those of the previous look, or earlier scores are missing or changed.
    UsageError
        If there are clusters but no largest cluster size is declared, or vice versa.
    """
    _require_declared_clusters(tables[0], settings)
    models, family = tables[0].models, family_from_settings(settings)
    names = [
        f"{claim.kind} {models[claim.new]}:{models[claim.old]} by {claim.margin!r} on {claim.statistic} of "
        + claim.column.name
        + claim.subset
        + f", bounds {claim.column.width!r} apart, α {family.interval_level(1)!r} {family.correction}"
        + (f", {claim.tier}" if claim.tier else "")
        + (f", clusters of at most {settings.largest_cluster}" if settings.largest_cluster else "")
        for claim in claims
        if claim.column.width is not None
    ]
    claimed: dict[str, set[int]] = {}
    for claim in claims:
        claimed.setdefault(claim.column.name, set()).update((claim.new, claim.old))
    digests = digest_scores(tables, claimed)
    if settings.continues is None:
        return Looks(1, names, digests)
    previous = read_looks(settings.continues, tables[0].options.max_bytes or MAX_BYTES)
    require_continuation(settings.continues, previous, names, digests)
    return Looks(previous.number + 1, names, digests)


def _declared_width(column: ScoreColumn) -> float:
    """Return the width of the declared range of scores.

    Raises
    ------
    UsageError
        If samples are unpaired or weighted, or the metric's bounds are not declared.
    """
    anytime = option("anytime", True)
    if not column.scores.paired:
        problem = f"{anytime} needs the same samples for both models"
        hint = f"leave out {option('unpaired', True)}, or look once, without {anytime}"
        raise UsageError(problem, found=option("unpaired", True), hint=hint)
    if not column.scores.unweighted:
        problem = f"{anytime} needs equally weighted samples, but tasks are weighted here"
        detail = f"{len(column.scores.cluster_counts)} models on a suite of tasks"
        hint = f"pool the tasks with {option('task', 'none')}, or look once, without {anytime}"
        raise UsageError(problem, found=detail, hint=hint)
    if column.width is None:
        problem = f"{anytime} needs declared bounds for {column.name}"
        hint = f"{bounds_hint(column.name)}: the smallest and largest possible score"
        raise UsageError(problem, found=f"scores of {column.name} that are not all 0 or 1", hint=hint)
    return column.width


def _require_declared_clusters(table: ScoreTable, settings: ClaimSettings) -> None:
    """Raise an error if there are clusters but no declared largest cluster size, or vice versa.

    Clusters of one sample each also need the declaration, because they may grow before the next look.
    """
    if table.cluster_names is not None and settings.largest_cluster is None:
        problem = f"{option('anytime', True)} needs the largest size that a cluster can ever have"
        detail = f"{len(table.cluster_names):,} clusters of {len(table.samples):,} samples so far"
        hint = f"declare it with {option('largest_cluster')}, before you look at the scores"
        raise UsageError(problem, found=detail, hint=hint)
    if table.cluster_names is None and settings.largest_cluster is not None:
        raise UsageError(
            f"{option('largest_cluster', settings.largest_cluster)} needs clusters, but there are none",
            found=f"no {option('cluster')}",
            hint=f"name the cluster column with {option('cluster', 'COL')}, or leave out "
            f"{option('largest_cluster')}",
        )


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
    """Return a short digest of each sample's scores on one metric, by sample name.

    A missing score contributes both of its bounds, so a score that is added later changes the digest. `model`
    and `metric` are indices.
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
        problem = f"{option('continues', path)}: {error.problem}"
        hint = f"leave out {option('continues')} at the first look, and keep the JSON output of that look"
        raise InputError(problem, found=error.found, hint=hint) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        problem = f"{option('continues', path)}: not the JSON output of a gate with {option('anytime', True)}"
        hint = f"give the JSON that an earlier gate with {option('anytime', True)} wrote"
        raise InputError(problem, found="no JSON with an entry meta.looks", hint=hint) from None


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
        problem = f"{option('continues', path)} was written for other claims"
        hint = "repeat the claims, margins, level and bounds of the first look"
        raise InputError(problem, found=f"'{changed[0]}' is claimed at only one of the two looks", hint=hint)
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
