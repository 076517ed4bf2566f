"""Choose the cheapest model that is not worse than a reference model (method §18)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from riskrank.engine.family import Family
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.option import changed_settings
from riskrank.scores.table.gate_inputs import read_prices
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import SIZE_KINDS, Finding, verdict_fields
from riskrank.studies.gate.claim import FAILED, NOT_WORSE
from riskrank.studies.gate.document import Candidate, Choice, GateDocument, GateRow, claim_rows
from riskrank.studies.gate.findings import SIDES
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.sentences import row_sentence
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, error_type
from riskrank.studies.metric_means import metric_means
from riskrank.studies.settings import family_from_settings
from riskrank.studies.wording import format_number, join_names


def choose_cheapest(
    tables: Sequence[ScoreTable],
    settings: ClaimSettings,
    decide: Callable[[Sequence[ScoreTable], ClaimSettings], GateDocument],
) -> GateDocument:
    """Choose the cheapest model that is significantly non-inferior to the reference, or else the reference.

    A candidate must not be worse on any metric and, if costs are measured, must cost less. Its p-value is the
    largest one over these claims (intersection-union test), adjusted by Holm over all candidates.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings
        Includes the reference model, and the file or metric with prices.
    decide : callable
        Function that runs a gate on tables with the given settings.

    Raises
    ------
    InputError
        If a model has no price.
    UsageError
        If no other model can be cheaper than the reference.
    """
    models, price, reference = tables[0].models, str(settings.price), str(settings.cheapest)
    tables[0].index(reference)
    means = (mean for table in tables for mean in metric_means(table) if mean.name == price)
    measured = next((dict(zip(models, mean.mean.tolist(), strict=True)) for mean in means), {})
    prices = measured or _read_file_prices(price, models, tables[0].options.max_bytes)
    candidates = [m for m in models if m != reference and (measured or prices[m] < prices[reference])]
    if not candidates:
        detail = ", ".join(f"{model} {prices[model]:g}" for model in models)
        hint = f"name a more expensive model: {option('cheapest', 'REFERENCE')}"
        raise UsageError(f"no model is cheaper than {reference}", found=detail, hint=hint)
    pairs = tuple(f"{name}:{reference}" for name in candidates)
    metrics = [metric.name for table in tables for metric in table.metrics if metric.name != price]
    unset: dict[str, Any] = {"cheapest": None, "price": None}
    quality = decide(tables, replace(settings, **unset, not_worse=pairs, on=settings.on or tuple(metrics)))
    documents = [quality]
    if measured:
        costs = [replace(table, required=frozenset()) for table in tables]
        documents.append(decide(costs, replace(settings, **unset, better=pairs, on=(price,), margin=())))
    rows = [*dict.fromkeys(row for document in documents for row in document.rows)]
    counts = {(row.model, row.metric): row for result in documents for row in result.provenance.scored}
    scored = [counts[key] for key in sorted(counts)]
    options = changed_settings(settings, tables[0].options)
    quality = replace(quality, provenance=replace(quality.provenance, scored=scored, settings=options))
    tested = _test_candidates(candidates, rows, prices, family_from_settings(settings))
    tested.sort(key=lambda candidate: candidate.price)
    model = next((candidate.model for candidate in tested if candidate.passed), reference)
    choice = Choice(model, reference, prices[reference], prices[reference] - prices[model], tested)
    return _build_document(quality, rows, choice, settings)


def _read_file_prices(path: str, models: Sequence[str], max_bytes: int | None) -> dict[str, float]:
    """Read the price of each model from a file.

    `max_bytes` is the largest file size.

    Raises
    ------
    InputError
        If a model has no price.
    """
    prices = read_prices(path, max_bytes)
    missing = [model for model in models if model not in prices]
    if missing:
        problem = f"{option('price', path)} has no price for {listing(missing)}"
        detail = f"prices of {listing(prices)}"
        raise InputError(problem, found=detail, hint=f"add a price, or exclude the model: {option('models')}")
    return prices


def _test_candidates(
    candidates: Sequence[str], rows: Sequence[GateRow], prices: Mapping[str, float], family: Family
) -> list[Candidate]:
    """Return each candidate with its price and with the joint result of its claims."""
    rows_of = [[row for row in rows if row.new == model] for model in candidates]
    adjusted = family.adjust_p_values([max(map(_one_sided_p, model_rows)) for model_rows in rows_of])
    tested = []
    for model, p, model_rows in zip(candidates, adjusted, rows_of, strict=True):
        passed, refuted = bool(family.significant(p)), any(row.verdict == FAIL for row in model_rows)
        tested.append(Candidate(model, prices[model], float(p), passed, refuted))
    return tested


def _one_sided_p(row: GateRow) -> float:
    """Return the p-value of a claim if its estimate supports the claim, otherwise 1."""
    distance = row.boundary - row.estimate if row.direction == "lower" else row.estimate - row.boundary
    return row.p_value if distance > 0 and row.verdict != FAIL else 1.0


def _with_candidate_verdict(row: GateRow, candidates: Sequence[Candidate]) -> GateRow:
    """Return the row with the verdict "pass" if its candidate model passes all claims.

    The interval is then clipped at the boundary. Otherwise, the row is returned unchanged.
    """
    candidate = next(item for item in candidates if item.model == row.new)
    if not candidate.passed or row.verdict == PASS:
        return row
    low, high = row.low, row.high
    if row.direction == "lower":
        high = None if high is None else min(high, row.boundary)
    else:
        low = None if low is None else max(low, row.boundary)
    return replace(row, verdict=PASS, p_adjusted=candidate.p_adjusted, low=low, high=high)


def _build_document(
    quality: GateDocument, rows: Sequence[GateRow], choice: Choice, settings: ClaimSettings
) -> GateDocument:
    """Return the document of a gate that passes if a candidate is chosen, and fails if all are refuted.

    Parameters
    ----------
    quality : GateDocument
        Document of the claims that candidates are not worse than the reference.
    rows : sequence of GateRow
        Rows of these claims and of claims on costs.
    choice : Choice
    settings : ClaimSettings
    """
    if choice.model != choice.reference:
        outcome = PASS
    else:
        outcome = FAIL if all(candidate.refuted for candidate in choice.candidates) else INCONCLUSIVE
    error = error_type(outcome, settings.inconclusive)
    message = f"gate {option('cheapest')}: {choice.reference} stays"
    details = f"none of {len(choice.candidates)} candidates is demonstrably not worse"
    hint = f"score more samples, or allow a larger {option('margin')}"
    failed = None if error is None else error(message, found=details, hint=hint)
    rows = [_with_candidate_verdict(row, choice.candidates) for row in rows]
    models, sentence = quality.provenance.models, f"{outcome.upper()}: {_choice_sentence(choice, rows)}"
    chosen = tuple(models.index(model) for model in (choice.model, choice.reference))
    figures = {"reference_price": choice.reference_price, "saves_a_call": choice.saves_a_call}
    figures |= {"candidates": float(len(choice.candidates))}
    figures |= {"price": choice.reference_price - choice.saves_a_call}
    figures |= {f"{row.metric}.margin": float(row.margin) for row in claim_rows(rows) if row.margin}
    finding = Finding("outcome", chosen, figures=figures, answer=SIDES[outcome])
    fields = verdict_fields(models, (finding, sentence))
    fields["findings"] += [f for f in quality.findings if f.kind in (*SIZE_KINDS, "same-distribution")]
    return replace(quality, rows=rows, outcome=outcome, failed=failed, choice=choice, **fields)


def _choice_sentence(choice: Choice, rows: Sequence[GateRow]) -> str:
    """Return a sentence that names the chosen model, the metrics of the claims and the price saved."""
    claims = {row.metric: row for row in claim_rows(rows) if row.claim == NOT_WORSE}
    metrics = [f"{m} by more than {row.margin_text}" if row.margin else m for m, row in claims.items()]
    count, metric_list = len(choice.candidates), join_names(metrics)
    if choice.model == choice.reference:
        lost = "".join(f" {row_sentence(row)}." for row in rows if row.statistic == FAILED)
        keep = f"keep {choice.reference}: no candidate (of {count}) is demonstrably not worse"
        return f"{keep} on {metric_list}.{lost}"
    price = choice.reference_price - choice.saves_a_call
    saved = f"it costs {format_number(price)} instead of {format_number(choice.reference_price)}"
    return (
        f"choose {choice.model}, the cheapest candidate (of {count}) that is not worse than "
        f"{choice.reference} on {metric_list}: {saved}."
    )
