"""Claims whose answers hold whenever one looks: bets in the place of resamples (method §9)."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.evidence.e_values import Bet, Wagers
from riskrank.engine.sampling.cluster_means import cluster_means
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Integers
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.table.metrics_file import how_to_bound
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.gate.claim import GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.looks import MOST_BYTES, Looks, digests, read_looks, require_continued
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.settings import family_of


def wagered(claim: GateClaim, *, settings: ClaimSettings) -> Bet:
    """What bets on the samples of a claim have come to.

    Parameters
    ----------
    claim : GateClaim
    settings : ClaimSettings

    Raises
    ------
    UsageError
        If the claim is not about means of bounded scores on the same samples, or clusters of them have no
        declared largest size.
    InputError
        If a cluster is larger than declared.
    """
    column = claim.column
    if not claim.of_means or column.costs is not None:
        raise UsageError(
            f"{option('anytime', True)} decides differences of means",
            found=f"{option('on', claim.statistic)}",
            hint=f"leave out {option('anytime', True)}, and look once; or claim {option('on', 'mean')}",
        )
    reach = _reach(column)
    clusters = _clusters(column.scores, settings.largest_cluster)
    means = column.scores.sample_means()
    differences = means[claim.new] - means[claim.old]
    largest = 1 if clusters is None else settings.largest_cluster
    assert largest is not None
    if clusters is not None and int(np.bincount(clusters).max()) > largest:
        raise InputError(
            f"a cluster is larger than {option('largest_cluster', largest)} says",
            found=f"one of {int(np.bincount(clusters).max())} samples",
            hint="declare the most that a cluster may ever hold, before looking at the scores",
        )
    # The last bit of a mean of repeats must not carry a difference beyond the bounds.
    wagers = Wagers.of(np.clip(differences, -reach, reach), reach, clusters=clusters, largest=largest)
    units = np.arange(len(differences)) if clusters is None else clusters
    error = float(cluster_means(differences[:, None], units).error[0])  # for the digits it is shown with
    return Bet(float(differences.mean()), claim.boundary, error, int(units.max()) + 1, wagers)


def look(tables: Sequence[ScoreTable], settings: ClaimSettings, claims: Sequence[GateClaim]) -> Looks:
    """Note what a look sees, after those before it.

    Raises
    ------
    InputError
        If it does not continue them.
    UsageError
        If there are clusters without a largest size, or a largest size without clusters.
    """
    _require_declared_clusters(tables[0], settings)
    models, family = tables[0].models, family_of(settings)
    names = [
        f"{claim.kind} {models[claim.new]}:{models[claim.old]} by {claim.margin!r} on {claim.statistic} of "
        + claim.column.name
        + claim.where
        + f", bounds {claim.column.reach!r} apart, α {family.level(1)!r} {family.correction}"
        + (f", {claim.tier}" if claim.tier else "")
        + (f", clusters of at most {settings.largest_cluster}" if settings.largest_cluster else "")
        for claim in claims
        if claim.column.reach is not None
    ]
    wanted: dict[str, set[int]] = {}
    for claim in claims:
        wanted.setdefault(claim.column.name, set()).update((claim.new, claim.old))
    seen = digests(tables, wanted)
    if settings.continues is None:
        return Looks(1, names, seen)
    before = read_looks(settings.continues, tables[0].options.max_bytes or MOST_BYTES)
    require_continued(settings.continues, before, names, seen)
    return Looks(before.number + 1, names, seen)


def _reach(column: ScoreColumn) -> float:
    """How far two scores can lie apart, of a column that bets can be made on.

    Raises
    ------
    UsageError
        If models have samples of their own, samples do not weigh alike, or nobody declared bounds.
    """
    anytime = option("anytime", True)
    if not column.scores.paired:
        raise UsageError(
            f"{anytime} needs the same samples of both models",
            found=option("unpaired", True),
            hint=f"leave out {option('unpaired', True)}, or look once, without {anytime}",
        )
    if not column.scores.plain:
        raise UsageError(
            f"{anytime} bets on samples that weigh alike, and tasks weigh here",
            found=f"{len(column.scores.cluster_counts)} models on a suite of tasks",
            hint=f"pool the tasks with {option('task', 'none')}, or look once, without {anytime}",
        )
    if column.reach is None:
        raise UsageError(
            f"{anytime} needs bounds, and nobody declared those of {column.name}",
            found=f"scores of {column.name} that are not all 0 or 1",
            hint=f"{how_to_bound(column.name)}: the least and the most there can ever be",
        )
    return column.reach


def _require_declared_clusters(table: ScoreTable, settings: ClaimSettings) -> None:
    """Refuse clusters without a largest size, and a largest size without clusters.

    Clusters of one sample each need it as well: what they are today decides nothing of the next look.
    """
    if table.cluster_names is not None and settings.largest_cluster is None:
        raise UsageError(
            f"{option('anytime', True)} needs the most samples a cluster may ever hold",
            found=f"{len(table.cluster_names):,} clusters of {len(table.samples):,} samples so far",
            hint=f"declare it with {option('largest_cluster')}, before looking at the scores",
        )
    if table.cluster_names is None and settings.largest_cluster is not None:
        raise UsageError(
            f"{option('largest_cluster', settings.largest_cluster)} is about clusters, and there are none",
            found=f"no {option('cluster')}",
            hint=f"name their column, {option('cluster', 'COL')}, or leave out {option('largest_cluster')}",
        )


def _clusters(scores: ClusteredScores, largest: int | None) -> Integers | None:
    """Cluster of each sample; None where samples are drawn one by one."""
    if scores.nested:
        return scores.sample_clusters()[0]
    # Bets are as small as declared from the first look on, even while every cluster holds one sample: a
    # later look could not take back what larger ones had won.
    return None if largest is None else np.arange(scores.cluster_counts[0])
