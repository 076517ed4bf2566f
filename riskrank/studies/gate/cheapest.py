"""The cheapest model that is shown not to be worse than a reference (method §18)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from riskrank.engine.family import Family
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.option import told
from riskrank.scores.table.prices import read_prices
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import Finding, stated
from riskrank.studies.gate.claim import FAILED, NOT_WORSE
from riskrank.studies.gate.document import Candidate, Choice, GateDocument, GateRow, claims_among
from riskrank.studies.gate.findings import SIDES
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.sentences import row_sentence
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, ends_with
from riskrank.studies.metric_means import metric_means
from riskrank.studies.sample_findings import LIMITS
from riskrank.studies.settings import family_of
from riskrank.studies.wording import counted, names, number


def cheapest(
    tables: Sequence[ScoreTable], settings: ClaimSettings, decide: Callable[[ClaimSettings], GateDocument]
) -> GateDocument:
    """Choose the cheapest model that is shown not to be worse than the reference; else that one stays.

    Each candidate is one claim: that it is not worse on any metric, and where costs are measured that it
    costs less (intersection-union, the largest p-value). Holm over the candidates.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings
        With the reference, and a file or a metric of prices.
    decide : callable
        A gate on claims.

    Raises
    ------
    InputError
        If a candidate has no price.
    UsageError
        If no other model may be cheaper.
    """
    models, price, reference = tables[0].models, str(settings.price), str(settings.cheapest)
    tables[0].index(reference)
    measured = _measured(tables, price)
    prices = measured or _known(price, models, tables[0].options.max_bytes)
    candidates = [one for one in models if one != reference and (measured or prices[one] < prices[reference])]
    if not candidates:
        raise UsageError(
            f"no model is cheaper than {reference}",
            found=", ".join(f"{model} {prices[model]:g}" for model in models),
            hint=f"name a dearer model: {option('cheapest', 'REFERENCE')}",
        )
    pairs = tuple(f"{one}:{reference}" for one in candidates)
    rest = [one.name for table in tables for one in table.metrics if one.name != price]
    plain: dict[str, Any] = {"cheapest": None, "price": None}
    quality = decide(replace(settings, **plain, not_worse=pairs, on=settings.on or tuple(rest)))
    decided = [quality]
    if measured:
        decided.append(decide(replace(settings, **plain, better=pairs, on=(price,), margin=())))
    rows = [*dict.fromkeys(row for one in decided for row in one.rows)]
    known = {(one.model, one.metric): one for document in decided for one in document.provenance.scored}
    scored = [known[key] for key in sorted(known)]
    asked = told(settings, tables[0].options)
    quality = replace(quality, provenance=replace(quality.provenance, scored=scored, settings=asked))
    found = _tested(candidates, rows, prices, family_of(settings))
    return _document(quality, rows, _chosen(found, reference, prices), settings)


def _chosen(candidates: Sequence[Candidate], reference: str, prices: Mapping[str, float]) -> Choice:
    """Return the cheapest candidate that is shown; the first by name of two at one price."""
    candidates = sorted(candidates, key=lambda candidate: candidate.price)
    model = next((candidate.model for candidate in candidates if candidate.shown), reference)
    return Choice(model, reference, prices[reference], prices[reference] - prices[model], candidates)


def _measured(tables: Sequence[ScoreTable], price: str) -> dict[str, float]:
    """Mean cost of every model, where the price is a metric; empty where it is a file."""
    for table in tables:
        for mean in metric_means(table):
            if mean.name == price:
                return dict(zip(table.models, mean.mean.tolist(), strict=True))
    return {}


def _known(path: str, models: Sequence[str], limit: int | None) -> dict[str, float]:
    prices = read_prices(path, limit)
    lacking = [model for model in models if model not in prices]
    if lacking:
        raise InputError(
            f"{option('price', path)} has no price of {listing(lacking)}",
            found=f"prices of {listing(prices)}",
            hint=f"add it, or leave the model out: {option('models')}",
        )
    return prices


def _tested(
    candidates: Sequence[str], rows: Sequence[GateRow], prices: Mapping[str, float], family: Family
) -> list[Candidate]:
    """Candidates with the answer to all of their claims together."""
    own = [[row for row in rows if row.new == one] for one in candidates]
    adjusted = family.adjusted([max(map(_p_shown, of_one)) for of_one in own])
    return [
        Candidate(
            one,
            prices[one],
            float(p),
            shown=bool(family.significant(p)),
            refuted=any(row.verdict == FAIL for row in of_one),
        )
        for one, p, of_one in zip(candidates, adjusted, own, strict=True)
    ]


def _p_shown(row: GateRow) -> float:
    """P-value of a claim where the estimate speaks for it, else 1."""
    away = row.boundary - row.estimate if row.direction == "lower" else row.estimate - row.boundary
    return row.p_value if away > 0 and row.verdict != FAIL else 1.0


def _of_candidate(row: GateRow, found: Sequence[Candidate]) -> GateRow:
    """A claim with the answer to its candidate, whose interval ends at the boundary where that shows more."""
    one = next(one for one in found if one.model == row.new)
    if not one.shown or row.verdict == PASS:
        return row
    low, high, end = row.low, row.high, row.boundary
    if row.direction == "lower":
        high = None if high is None else min(high, end)
    else:
        low = None if low is None else max(low, end)
    return replace(row, verdict=PASS, p_adjusted=one.p_adjusted, low=low, high=high)


def _document(
    quality: GateDocument, rows: Sequence[GateRow], choice: Choice, settings: ClaimSettings
) -> GateDocument:
    """The gate's document with what is chosen: a pass where it is another model."""
    if choice.model != choice.reference:
        outcome = PASS
    else:
        outcome = FAIL if all(one.refuted for one in choice.candidates) else INCONCLUSIVE
    kind = ends_with(outcome, settings.inconclusive)
    what = f"gate {option('cheapest')}: {choice.reference} stays"
    found = f"of {len(choice.candidates)} models that may cost less none is shown not to be worse"
    hint = f"score more samples, or widen {option('margin')} where that loss does not matter"
    failed = None if kind is None else kind(what, found=found, hint=hint)
    rows = [_of_candidate(row, choice.candidates) for row in rows]
    models, sentence = quality.provenance.models, f"{outcome.upper()}: {_sentence(choice, rows)}"
    chosen = tuple(models.index(model) for model in (choice.model, choice.reference))
    finding = Finding("outcome", chosen, figures=_figures(choice, rows), answer=SIDES[outcome])
    answer = stated(models, (finding, sentence))
    answer["findings"] += [one for one in quality.findings if one.kind in (*LIMITS, "same-distribution")]
    return replace(quality, rows=rows, outcome=outcome, failed=failed, choice=choice, **answer)


def _figures(choice: Choice, rows: Sequence[GateRow]) -> dict[str, float]:
    """The numbers of the sentence below."""
    given = {"reference_price": choice.reference_price, "saves_a_call": choice.saves_a_call}
    given |= {"candidates": len(choice.candidates), "price": choice.reference_price - choice.saves_a_call}
    given |= {f"{row.metric}.margin": row.margin for row in claims_among(rows) if row.margin}
    return {name: float(value) for name, value in given.items()}


def _sentence(choice: Choice, rows: Sequence[GateRow]) -> str:
    """Which model to take, and what it saves."""
    margins = {
        row.metric: row.asked if row.margin else "" for row in claims_among(rows) if row.claim == NOT_WORSE
    }
    by = [f"{metric} by more than {one}" if one else metric for metric, one in margins.items()]
    of, where = counted(len(choice.candidates), "candidate"), names(by)
    if choice.model == choice.reference:
        lost = "".join(f" {row_sentence(row)}." for row in rows if row.statistic == FAILED)
        return f"{choice.reference} stays: of {of} none is shown not to be worse on {where}.{lost}"
    price = choice.reference_price - choice.saves_a_call
    saved = f"it costs {number(price)} against {number(choice.reference_price)}"
    return (
        f"take {choice.model}, the cheapest of {of} that is shown not to be worse than {choice.reference} on "
        f"{where}: {saved}."
    )
