"""Does every sample pass at least so often: a gate on each of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.evidence.evidence import either_way
from riskrank.engine.evidence.exact import exact_shares, runs_needed
from riskrank.engine.family import Family, Side
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, RiskrankError, option
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Gated, of, rows_from
from riskrank.studies.findings import Finding, Said, stated
from riskrank.studies.gate.findings import answered
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.passing import no_passes
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, VERDICTS, counts, ends_with, overall
from riskrank.studies.settings import family_of, provenance
from riskrank.studies.wording import counted, names, p_words, span, whole


def often(share: float) -> str:
    """A share as it was asked for: 99.5 %."""
    return f"{100 * share:g} %"


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One sample of one model: how many of its runs passed, and whether that is often enough.

    ``runs_needed`` is how many runs decide it if as many of them pass; None where it is decided, or no number
    does.
    """

    model: str = of(lambda model: model)
    metric: str = of(lambda metric: metric)
    sample: str = of(lambda sample: sample)
    runs: int = of(lambda runs: runs)
    passed: int = of(lambda passed: passed)
    share: float = of(lambda runs, passed: passed / runs)
    low: float = of(lambda answers, at: float(answers.low[at]))
    high: float = of(lambda answers, at: float(answers.high[at]))
    at_least: float = of(lambda least: least)
    verdict: str = of(lambda answers, at: VERDICTS[Side(answers.side[at])])
    p_value: float = of(lambda answers, at: float(answers.p_value[at]))
    p_adjusted: float = of(lambda answers, at: float(answers.p_adjusted[at]))
    runs_needed: int | None = of(lambda answers, at: whole(answers.needed[at]))

    @property
    def name(self) -> str:
        """The claim in a few words, as CI servers list it."""
        return f"{self.model} passes {self.sample} at least {often(self.at_least)} of the time: {self.metric}"

    @property
    def sentence(self) -> str:
        """The claim, and the numbers that decide it."""
        verb = {PASS: "passes", FAIL: "does not pass", INCONCLUSIVE: "is not shown to pass"}[self.verdict]
        return (
            f"{self.model} {verb} {self.sample} at least {often(self.at_least)} of the time on "
            f"{self.metric} ({self.passed:,} of {self.runs:,} runs, {self.low:.2g} to {self.high:.2g}; "
            f"{p_words(self.p_adjusted)})"
        )


@dataclass(frozen=True, kw_only=True)
class SampleDocument(Gated[SampleRow], schema="gate-samples"):
    """Answers about every sample.

    Attributes
    ----------
    family : Family
    at_least : float
        How often every sample is to pass.
    always : int or None
        Runs that show it of a sample that always passes.
    """

    family: Family
    at_least: float
    always: int | None

    def meta(self) -> Mapping[str, Any]:
        """The answer to all claims together."""
        return {
            "outcome": self.outcome,
            "counts": counts(self.rows),
            "at_least": self.at_least,
            "runs_needed_if_always_passed": self.always,
        }


# A sample of a model: model, metric, name, runs, and how many passed if what is missing is bad, or good.
_Counted = tuple[str, str, str, int, int, int]


def each_sample(tables: Sequence[ScoreTable], settings: ClaimSettings) -> SampleDocument:
    """Decide for every sample whether it passes at least so often, all of them as one family.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings

    Raises
    ------
    InputError
        If there are no repeated runs.
    UsageError
        If scores are not all 0 or 1.
    """
    assert settings.each_sample is not None
    least, family = settings.each_sample, family_of(settings)
    samples = [one for table in tables for one in _samples(table, least)]
    *_, runs, passed, at_best = zip(*samples, strict=True)
    answers = family.answer(either_way(*(exact_shares(some, runs, least) for some in (passed, at_best))))
    records = ((*one, answers, at, least) for at, one in enumerate(samples))
    rows = rows_from(SampleRow, "model metric sample runs passed at_best answers at least", records)
    outcome = overall(rows)
    always = runs_needed(1.0, least, family.level(len(rows)))
    return SampleDocument(
        provenance=provenance(
            "gate",
            tables[0],
            settings,
            {"each_sample": least, **family.settings}
            | {"family": counted(len(rows), "claim"), "inconclusive": settings.inconclusive},
            warnings=[*dict.fromkeys(line for one in tables[1:] for line in one.warnings)],
            metrics=[metric for table in tables for metric in table.metrics],
            samples=len({sample for one in tables for sample in one.samples}),
        ),
        rows=rows,
        **stated(tables[0].models, *_said(rows, outcome, always)),
        family=family,
        outcome=outcome,
        failed=_failed(rows, outcome, settings, always),
        inconclusive=settings.inconclusive,
        comment=settings.comment,
        at_least=least,
        always=always,
    )


def _samples(table: ScoreTable, least: float) -> Iterator[_Counted]:
    """Samples of every model on every metric."""
    if not table.has_draws:
        raise InputError(
            f"{option('each_sample', f'{least:g}')} needs several runs of a sample",
            found=f"one score a sample, {option('repeats', table.options.repeats)}",
            hint=f"run every sample several times, and keep the runs apart: {option('repeats', 'draws')}",
        )
    best = table.at_best()
    for number, metric in enumerate(table.metrics):
        for model, name in enumerate(table.models):
            rows = table.row_samples[model]
            runs = np.bincount(rows)
            passed, at_best = (
                _passed(one.values[model][:, number], rows, metric, least) for one in (table, best)
            )
            for at in np.flatnonzero(runs).tolist():
                yield name, metric.name, table.samples[at], int(runs[at]), int(passed[at]), int(at_best[at])


def _passed(values: Floats, samples: Integers, metric: MetricSpec, least: float) -> Integers:
    """Runs of one model that passed, by the number of the sample."""
    if not np.all((values == 0) | (values == metric.sign)):
        hint = f"choose a metric of 0 and 1, {option('metric')}"
        raise no_passes(option("each_sample", f"{least:g}"), metric.name, hint)
    return np.bincount(samples, values == max(0.0, metric.sign)).astype(np.int64)


def _said(rows: Sequence[SampleRow], outcome: str, always: int | None) -> list[Said]:
    """How many samples are shown to pass, and how many runs would show it of the best."""
    found = counts(rows)
    least = often(rows[0].at_least)
    shown = "is" if found[PASS] == 1 else "are"
    parts = [f"{found[PASS]:,} {shown} shown to pass at least {least} of the time"]
    failing = [row.sample for row in rows if row.verdict == FAIL]
    parts += [f"{found[FAIL]:,} less often ({names(list(dict.fromkeys(failing)), 5)})"] if failing else []
    parts += [f"of {found[INCONCLUSIVE]:,} neither is shown"] if found[INCONCLUSIVE] else []
    figures = {"samples": len(rows), "at_least": rows[0].at_least, **found}
    told = [answered(outcome, f"{outcome.upper()}: of {_counted(rows)} {', '.join(parts)}.", figures)]
    if enough := _enough(rows, always):
        told.append((Finding(kind="needed", figures={"runs": float(always or 0)}), f"{enough}."))
    return told


def _counted(rows: Sequence[SampleRow]) -> str:
    """How many claims there are: 50 samples, 100 samples of 2 models."""
    models, metrics = len({row.model for row in rows}), len({row.metric for row in rows})
    of = f" of {models} models" if models > 1 else ""
    return counted(len(rows), "sample") + of + (f" on {metrics} metrics" if metrics > 1 else "")


def _enough(rows: Sequence[SampleRow], always: int | None) -> str:
    """How many runs show it of the best of samples, where some that are open have fewer."""
    runs = sorted({row.runs for row in rows if row.verdict == INCONCLUSIVE})
    if always is None or not runs or runs[0] >= always:
        return ""
    return f"A sample that always passes takes {always:,} runs to show it, and here are {span(runs)}"


def to_decide(rows: Sequence[SampleRow], always: int | None, inconclusive: str | None) -> str:
    """How many runs would decide the samples that are open, and what lets them through as they are."""
    needed = [row.runs_needed for row in rows if row.verdict == INCONCLUSIVE and row.runs_needed is not None]
    parts = [f"{always:,} runs of a sample that always passes"] if always is not None else []
    parts += [f"up to {max(needed):,} were the shares found the true ones"] if needed else []
    flag = option("inconclusive", inconclusive or "pass")
    counted_as = f"{flag} counts them as {inconclusive}" if inconclusive else f"or {flag} lets them through"
    return f"{', '.join(parts) or 'more runs'}; {counted_as}"


def _failed(
    rows: Sequence[SampleRow], outcome: str, settings: ClaimSettings, always: int | None
) -> RiskrankError | None:
    """What the run ends with, after its result is written."""
    failing, kind = outcome == FAIL, ends_with(outcome, settings.inconclusive)
    if kind is None:
        return None
    first = next(row for row in rows if row.verdict == outcome)
    asked = option("each_sample", f"{first.at_least:g}")
    return kind(
        f"gate {asked} {'failed' if failing else 'is inconclusive'} on {counts(rows)[outcome]:,} of "
        f"{_counted(rows)}",
        found=first.sentence,
        hint="look at the runs that failed, or ask for less"
        if failing
        else to_decide(rows, always, settings.inconclusive),
    )
