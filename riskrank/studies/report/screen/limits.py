"""What the samples of a report could not show: in bad cases, of small differences, and of rare events."""

from collections.abc import Iterator

import numpy as np

from riskrank.shown.view import Line, Section
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.screen.summaries import leading
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.visible import shown_by_metric
from riskrank.studies.wording import percent, unseen_in

# What the smallest difference means that samples could have shown (method §15).
_OFTEN = "tests of as many samples would find 4 times in 5"


def unseen(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """What is too small or too rare for these samples, and what no sample tells."""
    metric, _method = leading(ranking)
    study = ranking.study.studies[metric].dominance.estimates
    level, samples = study.tail_level, study.samples
    tail = max(round(level * samples), 1)
    return [
        *_of_the_pair(ranking),
        Line(
            f"{unseen_in(ranking.study.columns[metric])} What never happened in n independent samples may "
            "still happen in up to about 3 in n of all cases, with 95 % confidence."
        ),
        Line(
            f"The mean of the worst {percent(level)} is a mean of about {tail:,} "
            f"sample{'s' * (tail != 1)} of each model; what is rarer than that, no row here tells."
        ),
        Line(
            "Tests and intervals speak of samples like these. They say nothing about other tasks, other "
            "users, or a metric that misses what matters."
        ),
    ]


def _of_the_pair(ranking: RankDocument) -> Iterator[Line]:
    """The smallest differences on single metrics that tests would mostly show of the verdict's two models."""
    one, models = next(iter(ranking.leading.values())), ranking.provenance.models
    if one.recommendation is None:
        return
    other = next(model for model in one.pair if model != one.first)
    seen = one.contrasts.visible(ranking.inference.family)[other].tolist()
    told = shown_by_metric(ranking.means, dict(zip((mean.name for mean in ranking.means), seen, strict=True)))
    if told:
        yield Line(told, f"Of {models[one.first]} and {models[other]}, {_OFTEN}")
    apart = np.abs(one.contrasts.difference[other])
    open_ = (one.contrasts.answers.side[other] == 0) & (apart > 0) & (np.array(seen) < np.inf)
    if len(ranking.means) > 1 and open_.all():
        # An error shrinks with the root of how many samples there are.
        needed = one.scores.effective_size * (np.array(seen) / apart) ** 2
        least = int(np.argmin(needed))
        yield Line(
            f"If means differ as they do here, about {float(f'{needed[least]:.2g}'):,.0f} samples would show "
            f"it of {ranking.means[least].name}, and of no metric would fewer."
        )
