"""What portfolio scores show without a test, and how each kind of finding is said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.portfolio.summary import Summary
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import NOTHING_TESTED, Finding, Said, Sentences, same_scores, untested
from riskrank.studies.sample_findings import sample_findings
from riskrank.studies.wording import decimals_of, percent, rounded


@dataclass(frozen=True, eq=False)
class PortfolioCase:
    """What sentences are made from."""

    found: Summary
    models: Sequence[str]

    @property
    def decimals(self) -> int:
        """Digits that the errors of the means leave."""
        return decimals_of(self.found.sd / np.sqrt(self.found.size))


def portfolio_findings(case: PortfolioCase, table: ScoreTable) -> Iterator[Finding]:
    """Who has the best mean, who the best worst cases, and who are alike row by row."""
    means, tails = case.found.mean, case.found.tail_values[:, 0]
    best, safest = int(np.argmax(means)), int(np.argmax(tails))
    yield Finding("first", (best,), figures={"mean": float(means[best])})
    figures = {"level": case.found.levels[0], "tail": float(tails[safest])}
    yield Finding("mildest-tail", (safest,), figures=figures)
    yield from same_scores(table, table.models)


def portfolio_limits(table: ScoreTable) -> list[Said]:
    """That nothing was tested, and what the samples cannot see."""
    sizes = ClusteredScores.build(table.clusters, table.clusters, samples=table.row_samples, paired=False)
    tested = [(one, NOTHING_TESTED) for one in untested(tested=False)]
    return [*tested, *sample_findings([sizes], tested=False)]


def _first(finding: Finding, case: PortfolioCase) -> str:
    mean = rounded(finding.figures["mean"], case.decimals)
    return f"{case.models[finding.models[0]]} has the largest mean, {mean}."


def _mildest(finding: Finding, case: PortfolioCase) -> str:
    worst, average = percent(finding.figures["level"]), rounded(finding.figures["tail"], case.decimals)
    safest, text = finding.models[0], f"the worst {worst} average {average}"
    if safest == int(np.argmax(case.found.mean)):
        return f"Its bad cases are the mildest, too: {text}."
    return f"{case.models[safest]} has the mildest bad cases: {text}."


SENTENCES: Sentences[PortfolioCase] = Sentences({"first": _first, "mildest-tail": _mildest})
"""How each kind of finding is said."""
