"""Rankings in detail: every figure of a method, all methods side by side, risks, and how to read them."""

from collections.abc import Iterator, Mapping
from string import ascii_lowercase

import numpy as np

from riskrank.engine.dominance.hidden_risk import NOT_DECIDED, NOT_SHOWN, RISK, HiddenRisks
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.render import numbers
from riskrank.render.agreement import aggregation_lines, agreement_table
from riskrank.render.mean_tables import inference_line, score_title
from riskrank.render.text_charts import significance_letters, interval_bars
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table, value_column
from riskrank.studies.detectable_difference import shown_by_metric
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leader import Leading
from riskrank.studies.wording import decimals_apart, names, not_decided, p_words, percent, rounded

# Terminals from here on have room for letters.
_WIDE = 160
# A list of hidden risks longer than this hides them again.
_MOST_RISKS = 8


def details(document: RankDocument) -> Iterator[Section]:
    """Per column of scores the leading method in detail and hidden risks; then how to read it all."""
    study, inference, models = document.study, document.inference, document.provenance.models
    for one in document.leading.values():
        yield detail_table(document, one)
        if one.method in one.found.separations and inference.test:
            yield separation_line(one)
        yield from risk_lines(document, one)
    if study.studies:
        column, first = next(iter(study.studies.items()))
        yield reading(document)
        # Of one metric the first screen tells.
        if len(document.means) > 1 and (told := shown_by_metric(document.means, document.visible)):
            yield Line(told, "Could have shown:")
        yield inference_line(first.dominance, inference, models, document.study.columns[column])


def methods_beside(document: RankDocument) -> Iterator[Section]:
    """Ranks by all methods on every column, by aggregation, and how far they agree."""
    study = document.study
    for metric, one in document.leading.items():
        # Not those that were made for an aggregation over the metrics alone.
        shown = {name: r for name, r in one.found.rankings.items() if f"{name}@{metric}" in study.rankings}
        if len(shown) > 1:
            title = f"Ranks by every method @{metric}"
            yield side_by_side(title, shown, one.ranking, document)
    if study.aggregations:
        rankings = {name: study.rankings[name] for name in study.aggregations}
        leading = rankings.get("RA(R-SSD@M)", next(iter(rankings.values())))
        yield side_by_side("Ranks by aggregation", rankings, leading, document)
        yield from aggregation_lines(study.aggregations)
    if len(study.studies) + len(study.aggregations) > 1 and len(study.rankings) > 1:
        yield agreement_table(study)


def detail_table(document: RankDocument, one: Leading) -> Table:
    """Place, rank set, wins and losses, ε, and what the difference to the first is worth."""
    metric, units, models = one.column, document.units[one.column], document.provenance.models
    ranking, effects, decimals = one.ranking, one.found.effects[one.method], mean_decimals(document, one)
    gap, low, high = units.told(effects.mean_difference)
    sets = span = None
    if ranking.rank_low is not None and ranking.rank_high is not None:
        sets = [*map(numbers.format_rank_interval, ranking.rank_low, ranking.rank_high)]
    if low is not None and high is not None:
        ends = zip(low, high, strict=True)
        span = [
            "–" if at == to == 0 else numbers.format_difference_interval(at, to, decimals) for at, to in ends
        ]
    columns = [
        value_column("rank", ranking.rank),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i in one.named else "")),
        value_column("rank\nset", sets),
        value_column("beats", ranking.wins),
        value_column("beaten\nby", ranking.losses),
        value_column("tier", ranking.tier),
        value_column("ε" if ranking.wins is not None else "win\nrate", ranking.score, numbers.format_ratio),
        value_column("mean", units.of(effects.mean), lambda mean: rounded(float(mean), decimals)),
        (Column(f"worst\n{percent(effects.level)}"), document.tails[metric].of),
        value_column("to the\nfirst", gap, lambda gap: "–" if gap == 0 else rounded(float(gap), decimals)),
        value_column("interval", span),
        *_pictures(document, one),
    ]
    order = ranking.order[: document.top].tolist()
    return build_table(f"Ranking of {score_title(metric)}, {one.method}@{metric}", columns, order, stub=2)


def _pictures(document: RankDocument, one: Leading) -> Iterator[ModelColumn]:
    """Rank sets and differences as bars, and letters for who is beaten, for terminals with room for them."""
    ranking = one.ranking
    if ranking.rank_low is not None and ranking.rank_high is not None:
        places = interval_bars(ranking.rank, ranking.rank_low, ranking.rank_high)
        yield Column("places, first to last", "left", medium="terminal"), lambda i: places[i]
    gap, low, high = document.units[one.column].told(one.found.effects[one.method].mean_difference)
    if low is not None and high is not None:
        # One scale of the models that are shown: the others would only make it coarser.
        shown = ranking.order[: document.top]
        drawn = interval_bars(gap[shown], low[shown], high[shown], mark=0.0)
        gaps = dict(zip(shown.tolist(), drawn, strict=True))
        yield Column("difference", "left", medium="terminal"), lambda i: gaps[i]
    if one.tests is not None and document.inference.test:
        yield from _letters(one.tests, ranking)


def _letters(tests: DominanceTests, ranking: Ranking) -> Iterator[ModelColumn]:
    """Who beats whom on wide terminals; sets that no test separates, as papers write them, in LaTeX."""
    if (beaten := significance_letters(tests.dominates, ranking.order)) is not None:
        by_model = dict(zip(ranking.order.tolist(), beaten, strict=True))
        head = Column("significantly better than", "left", medium="terminal", min_width=_WIDE)
        yield head, lambda i: by_model[i]
    sets = tests.letter_groups(ranking.order)
    if len(sets) <= len(ascii_lowercase):
        shared = [
            "".join(letter for letter, one in zip(ascii_lowercase, sets, strict=False) if i in one)
            for i in range(len(ranking.order))
        ]
        yield Column("letters", "left", medium="latex"), lambda i: shared[i]


def mean_decimals(document: RankDocument, one: Leading) -> int:
    """Decimals of means and of their differences: as many as intervals of the differences support."""
    effects, units = one.found.effects[one.method], document.units[one.column]
    _, low, high = units.told(effects.mean_difference)
    if low is None or high is None:
        return decimals_apart(units.of(effects.mean).tolist())
    return numbers.interval_decimals(low, high)


def separation_line(one: Leading) -> Line:
    """The share of separated pairs and neighbours, and what the resamples left open."""
    counted, tests = one.found.separations[one.method], one.tests
    text = f"{counted.separated} of {counted.pairs} pair{'s' * (counted.pairs > 1)} of models"
    if counted.neighbours > 1:
        text += f", {counted.separated_neighbours} of {counted.neighbours} neighbours in the ranking"
    if tests is not None and (undecided := int((~tests.decided).sum())):
        text += f"; {not_decided(undecided, tests.family, one.found.dominance.resamples or 0, one.method)}"
    return Line(f"{text}.", "Told apart:")


def side_by_side(
    title: str, rankings: Mapping[str, Ranking], leading: Ranking, document: RankDocument
) -> Table:
    """Ranks of every model by several methods, models in the order of the leading one."""
    models = document.provenance.models
    columns: list[ModelColumn | None] = [(Column("model", "left"), lambda i: models[i])]
    columns += [value_column(_short(name), ranking.rank, name=name) for name, ranking in rankings.items()]
    return build_table(title, columns, leading.order[: document.top].tolist())


def _short(name: str) -> str:
    """Name of a method on two lines: ``SSD(0.25)`` as SSD over 0.25, ``RA(R-SSD@M)`` as RA over the rest."""
    if name.startswith("RA("):
        statistic, _, scope = name[3:-1].partition("@")
        return f"RA {statistic}\n@{scope}"
    return name.replace("R-", "R-\n").replace("(", "\n").rstrip(")")


def risk_lines(document: RankDocument, one: Leading) -> Iterator[Line]:
    """Name the models whose mean hides a worse tail, or whose metrics have one, with the numbers."""
    risks, models = one.found.hidden_risks, document.provenance.models
    if risks is None:
        yield Line("not looked for, as nothing was resampled.", "Hidden risks:")
        return
    proven = np.flatnonzero(risks.status == RISK)
    named = [_risk(document, one, risks, i) for i in proven[:_MOST_RISKS].tolist()]
    rest, on_metric = len(proven) - len(named), document.worse_cases[one.column]
    none = "none is proven" if on_metric is None else "none on the combined score"
    text = "; ".join(named) + (f"; and {rest} more" if rest > 0 else "") or none
    undecided = f"not decided at {one.found.dominance.resamples or 0:,} resamples"
    for status, words in ((NOT_SHOWN, "not shown, though worse in these samples"), (NOT_DECIDED, undecided)):
        doubted = [models[i] for i in np.flatnonzero(risks.status == status).tolist()]
        text += f"; {words}: {names(doubted)}" if doubted else ""
    yield Line(f"{text}.", "Hidden risks:", "yellow" if named else "")
    if on_metric is not None:
        worse = f"{models[on_metric.first]}: {on_metric.words(models)}."
        yield Line(worse, "Worse bad cases on single metrics:", "yellow")


def _risk(document: RankDocument, one: Leading, risks: HiddenRisks, i: int) -> str:
    models, tail, other = document.provenance.models, document.tails[one.column], int(risks.against[i])
    mean = rounded(float(document.units[one.column].of(risks.mean)[i]), mean_decimals(document, one))
    worst = f"worst {percent(tail.level)}"
    figures = f"mean {mean} (place {risks.place[i]} by the mean), {worst}: {tail.against(i, other)}"
    return f"{models[i]}: {figures} of {models[other]} ({p_words(float(risks.p_adjusted[i]))})"


def reading(document: RankDocument) -> Line:
    """How to read the tables."""
    inference = document.inference
    beats = "beats counts the models it is ahead of in these samples."
    together = ""
    if inference.test:
        beats = (
            "Rank sets hold the true places of all models together with "
            f"{percent(inference.family.confidence)} confidence; beats and beaten by count significant "
            "differences; the tests of this ranking separate no two models of a tier."
        )
    if inference.resampled:
        together = "; its intervals hold together, whichever model these data put first"
    text = (
        "ε is a model's mean violation ratio against the others: 0 if it dominates all of them, 1 if all of "
        f"them dominate it. {beats} mean, worst (the mean of a model's worst scores, TVaR) and the "
        f"difference to the first are in the units of the scores{together}. R-FSD, R-SSD: relative dominance "
        "of the first and second order (SSD minds the tail); a number under FSD or SSD: the threshold ε has "
        "to stay below; MWR: mean win rate, by the models' means; sample: share of samples it is best on; "
        "pairwise: share of the others beaten on a sample."
    )
    return Line(text, "Reading:")
