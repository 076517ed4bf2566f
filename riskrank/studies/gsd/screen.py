"""Screen of ``gsd``: means and dominated models, then the details and the requested further analyses."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from riskrank.engine.gsd.analysis import FrontTest, GsdAnalysis, Witness
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.sampling.monte_carlo import UpperBound
from riskrank.engine.types import Booleans
from riskrank.errors import option
from riskrank.render import numbers, screens
from riskrank.render.mean_tables import CORRECTIONS, metric_head
from riskrank.render.text_charts import hasse_rows
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table, column_heads
from riskrank.studies.gsd.study import GsdDocument
from riskrank.studies.wording import counted, detection_limit_words, typeset


def hasse_table(analysis: GsdAnalysis, models: Sequence[str], *, title: str) -> Table:
    """Return a table of the Hasse diagram with one row per node, from top to bottom.

    Models with equal utility share a node.
    """
    hasse = analysis.hasse
    names = [" = ".join(models[i] for i in node) for node in analysis.hasse.nodes]
    order = sorted(range(len(hasse.nodes)), key=lambda node: (hasse.levels[node], node))
    diagrams = dict(zip(order, hasse_rows(hasse.edges, order), strict=True))

    def below(node: int) -> str:
        """List the models directly below a node."""
        return ", ".join(names[lower] for upper, lower in hasse.edges if upper == node) or "–"

    columns: list[RowColumn] = [
        (Column("level"), lambda node: str(hasse.levels[node] + 1)),
        (Column("model", "left"), lambda node: Cell(names[node], "" if hasse.levels[node] else "bold")),
        (Column("directly over", "left"), below),
        (Column("diagram", "left", medium="terminal"), diagrams.__getitem__),
    ]
    return build_table(title, columns, order, stub=2)


_ANSWERS = {True: ("does not dominate", "green"), False: ("may dominate", "dim")}


def front_tables(test: FrontTest, models: Sequence[str], level: float) -> list[Section]:
    """Return a table of the tests whether other models dominate a model, and a line with the joint result.

    `level` is the significance level. The largest p-value comes first.
    """
    rejected = test.rejected(level)
    name = models[test.model]
    tests = sorted(test.tests, key=lambda pair: (-pair.p_value, pair.winner))
    answer = Column(f"at {level:g}/{len(tests)} each", "left")
    columns: list[RowColumn] = [
        (Column("competitor", "left"), lambda pair: models[pair.winner]),
        (Column("optimum"), lambda pair: numbers.format_score(pair.optimum)),
        (Column("p"), lambda pair: numbers.format_p_value(pair.p_value)),
        (answer, lambda pair: Cell(*_ANSWERS[pair.winner in rejected])),
    ]
    verb = "is" if test.in_front(level) else "is not significantly"
    p_value = numbers.format_p_value(test.p_value)
    text = f"{name} {verb} on the front (largest p of all competitors: {p_value})"
    survives = test.tolerated_samples(level)
    text += f"; this holds even if {survives} samples are wrong." if survives is not None else "."
    title = f"Front test: does a competitor dominate {name}?"
    return [build_table(title, columns, tests), Line(text, "Front test:")]


_MOST_ROWS = 8

# Precision of the solver's utilities.
_SOLVER_NOISE = 1e-9


def witness_tables(witness: Witness, models: Sequence[str], criteria: Sequence[str]) -> list[Section]:
    """Return a table of the score vectors that decide a comparison, and an explanation in words."""
    better, worse = models[witness.winner], models[witness.loser]
    attained = np.flatnonzero((witness.winner_share > 0) | (witness.loser_share > 0))
    decisive = [int(v) for v in attained if abs(witness.contribution[v]) > _SOLVER_NOISE][:_MOST_ROWS]
    shares = (f"share of\n{better}", f"share of\n{worse}")
    columns = column_heads(right=(*criteria, "utility", *shares, "contribution"))
    rows = tuple(
        (
            *map(_format_score, witness.values[v].tolist()),
            # Rounded to the solver's precision, a utility is not displayed as <0.001 or −0.000.
            numbers.format_ratio(min(max(round(float(witness.utility[v]), 9), 0.0), 1.0) + 0.0),
            numbers.format_ratio(witness.winner_share[v]),
            numbers.format_ratio(witness.loser_share[v]),
            numbers.format_score(witness.contribution[v]),
        )
        for v in decisive
    )
    at = f" at δ = {witness.slack:g}" if witness.slack else ""
    title = f"{better} against {worse}{at}: the utility that favours {better} least"
    table = Table(title, columns, rows, stub=len(criteria))
    return [table, Line(_explain(witness, models, criteria), "Explained:")]


def _explain(witness: Witness, models: Sequence[str], criteria: Sequence[str]) -> str:
    """Explain in words why one model dominates another, or under which utility it does not."""
    better, worse, expected = models[witness.winner], models[witness.loser], witness.expected
    text = f"under it, {better} has expected utility {expected[0]:.4f} and {worse} has {expected[1]:.4f}"
    if witness.optimum >= 0:
        return f"{text}; no utility makes {better} worse, so it dominates."
    level, gain = witness.decisive_step()
    reached = witness.shares_reaching(level)
    at = int(np.flatnonzero(witness.utility == level)[0])
    pairs = zip(criteria, witness.values[at].tolist(), strict=True)
    scores = ", ".join(f"{name} {_format_score(value)}" for name, value in pairs)
    return (
        f"{text}, so {better} does not dominate. {better} loses most, {_format_score(-gain)}, at utility "
        f"{numbers.format_ratio(level)} ({scores}): {worse} reaches it in {100 * reached[1]:.1f} % of the "
        f"samples, {better} in {100 * reached[0]:.1f} %."
    )


def _format_score(value: float) -> str:
    """Format a score with up to six significant digits."""
    return typeset(f"{value:,.6g}")


def baseline_tables(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> Iterator[Section]:
    """Yield a table of rank tests for each criterion, and lines with the results of two baseline methods.

    `level` is the significance level.
    """
    ranks = tests.mean_rank

    def in_order(j: int) -> str:
        """List the models with their mean ranks on criterion number `j`, best first."""
        order = np.argsort(ranks[j], kind="stable")
        return ", ".join(f"{models[i]} {ranks[j][i]:.2f}" for i in order)

    columns: list[RowColumn] = [
        (Column("criterion", "left"), lambda j: criteria[j]),
        (Column("Friedman\nχ²"), lambda j: numbers.format_score(float(tests.friedman_statistic[j]))),
        (Column("p"), lambda j: numbers.format_p_value(float(tests.friedman_p_value[j]))),
        (Column("Nemenyi\npairs"), lambda j: str(int(tests.better(level)[j].sum()))),
        (Column("mean ranks", "left"), in_order),
    ]
    title = "Baselines: rank tests by criterion"
    yield build_table(title, columns, range(len(criteria)))
    for label, relation, meaning in (
        ("All-test:", tests.all_test(level), "better on every criterion"),
        ("One-test:", tests.one_test(level), "better on at least one criterion and worse on none"),
    ):
        pairs = [f"{models[i]} over {models[j]}" for i, j in np.argwhere(relation)]
        yield Line(f"{', '.join(pairs) or 'no pair'} ({meaning} by Nemenyi's test at {level:g}).", label)


def details(document: GsdDocument) -> Iterator[Section]:
    """Yield the Hasse diagram, the front and the tests for each threshold, then the requested analyses."""
    for i, analysis in enumerate(document.analyses):
        yield from _relation_sections(i, document)
        yield from _pair_sections(analysis, document)
    yield from requested_sections(document)
    yield _reading_guide(document)
    yield from _tests_line(document)


def requested_sections(document: GsdDocument) -> Iterator[Section]:
    """Yield the results of the analyses that the user requested: front tests, utilities and rank tests."""
    models, level = document.provenance.models, document.relabelling.family.interval_level(1)
    for front in document.front_tests:
        yield from front_tables(front, models, level)
    for witness in document.witnesses:
        yield from witness_tables(witness, models, document.criteria)
    if document.baselines is not None:
        yield from baseline_tables(document.baselines, models, document.criteria, level)


def _relation_sections(index: int, document: GsdDocument) -> Iterator[Section]:
    """Yield the Hasse diagram, the incomparable pairs and the front at the threshold with the given index."""
    analysis, models = document.analyses[index], document.provenance.models
    label = str(analysis.threshold)
    for earlier in document.analyses[:index]:
        if np.array_equal(earlier.relation.dominates, analysis.relation.dominates):
            yield Line(f"the same as at {earlier.threshold}.", f"Relation at {label}:")
            return
    pairs = [f"{models[i]}–{models[j]}" for i, j in analysis.incomparable]
    front = [name for name, in_front in zip(models, analysis.front, strict=True) if in_front]
    yield hasse_table(analysis, models, title=f"Dominance relation, {label}")
    yield Line(", ".join(pairs) + "." if pairs else "no pair.", "Incomparable:")
    yield Line(", ".join(front) + ".", "Front:")
    if analysis.hasse.implied:
        implied = [f"{models[i]} over {models[j]}" for i, j in analysis.hasse.implied]
        yield Line(f"implied only through other models: {', '.join(implied)}.", "Note:", "yellow")


def _pair_sections(analysis: GsdAnalysis, document: GsdDocument) -> list[Section]:
    """Return a list with a table of the pairs of models that were tested or have dominance.

    The list is empty if there are no such pairs.
    """
    dominates, tests, level = analysis.relation.dominates, analysis.tests, _model_levels(analysis)
    pairs = sorted({*map(tuple, np.argwhere(dominates).tolist()), *tests})
    if not pairs:
        return []
    pairs.sort(key=lambda pair: (not dominates[pair], level[pair[0]], pair[0], level[pair[1]]))
    tested, relabelling, models = bool(tests), document.relabelling, document.provenance.models
    adjusted = tested and relabelling.family.correction != "none"
    contaminated = tested and relabelling.contamination
    p, survives = analysis.p_adjusted, analysis.tolerated_samples
    smaller = Column("smaller", name="share smaller")
    columns: list[RowColumn | None] = [
        (Column("better", "left"), lambda pair: models[pair[0]]),
        (Column("worse", "left"), lambda pair: models[pair[1]]),
        (Column("optimum"), lambda pair: numbers.format_score(float(analysis.relation.optimum[pair]))),
        (smaller, lambda pair: numbers.format_ratio(tests[pair].share_smaller)) if tested else None,
        (Column("p"), lambda pair: _p_cell(analysis, pair, tests[pair].p_value)) if tested else None,
        (Column("adjusted\np"), lambda pair: _p_cell(analysis, pair, float(p[pair]))) if adjusted else None,
        (Column("survives"), lambda pair: str(survives.get(pair, "–"))) if contaminated else None,
        (Column("verdict", "left"), lambda pair: _verdict_cell(analysis, *pair)),
    ]
    return [build_table(f"Dominance at {analysis.threshold!s}", columns, pairs, stub=2)]


def _p_cell(analysis: GsdAnalysis, pair: tuple[int, int], p_value: float) -> str:
    """Format a p-value, as an upper bound if no relabelling is as extreme as the observed labels."""
    bounded = analysis.tests[pair].is_uncontradicted
    return numbers.format_p_value((UpperBound if bounded else float)(p_value))


def _model_levels(analysis: GsdAnalysis) -> dict[int, int]:
    """Return the level of every model in the Hasse diagram, 0 at the top."""
    levels = zip(analysis.hasse.nodes, analysis.hasse.levels, strict=True)
    return {model: level for node, level in levels for model in node}


def _verdict_cell(analysis: GsdAnalysis, i: int, j: int) -> Cell:
    """Return a cell that says whether model `i` dominates model `j`, in the sample or significantly."""
    dominates = analysis.relation.dominates
    if not dominates[i, j]:
        return Cell("no dominance", "dim")
    if dominates[j, i]:
        return Cell("equal for every utility", "dim")
    if (i, j) not in analysis.tests:
        return Cell("dominates")
    if analysis.significant[i, j]:
        return Cell("significant", "green")
    return Cell("undecided" if analysis.undecided[i, j] else "in the sample only", "dim")


def _reading_guide(document: GsdDocument) -> Line:
    """Return a line that explains how to read the tables."""
    relabelling, first = document.relabelling, document.analyses[0]
    parts = [
        "Dominance: at least as good in expectation for every utility function of the metrics. "
        "Optimum: smallest advantage for any of these functions, from −1 to 1."
    ]
    if relabelling.pairs != "none":
        parts.append(
            "Smaller: share of relabellings with a smaller optimum than observed. p: share with an optimum "
            "at least as large (≤: no relabelling has one)."
        )
    if relabelling.contamination:
        parts.append("Survives: number of samples that could be wrong without loss of significance.")
    largest = "ξ" if first.threshold.rows == "r1+r2" else "δ_max"
    parts.append(f"Largest possible threshold, {largest}: {numbers.format_score(first.relation.delta_max)}.")
    return Line(" ".join(parts), "Reading:")


def _tests_line(document: GsdDocument) -> list[Line]:
    """Return a list with a line about the relabelling tests, empty if nothing was tested."""
    relabelling, k = document.relabelling, len(document.provenance.models)
    if relabelling.pairs == "none":
        return []
    swaps = {"swap": f"swaps of two models' scores within {document.unit}s"}
    kind = swaps.get(relabelling.resampling, "permutations of all scores")
    family = f"each family of tests has the {counted(k * (k - 1) // 2, 'pair')} at one threshold"
    programs = f"{document.lps_solved:,} linear programs solved"
    return [Line(f"relabelling by {kind}, seed {relabelling.seed}; {family}. {programs}.", "Tests:")]


def build_sections(document: GsdDocument) -> list[Section]:
    """Return the sections of the screen: models, requested analyses, caption, suggestions, then details."""
    suggestions = [option("explain", True)]
    if document.baselines is None:
        suggestions.insert(0, option("baselines", True))
    tests = [test for analysis in document.analyses for test in analysis.tests.values()]
    if tests and max(test.optimum for test in tests) == 0:
        suggestions.insert(0, f"{option('delta', '0.00001')} (stronger tests)")
    return [
        _model_table(document),
        *screens.hidden_count_lines(len(document.provenance.models) - screens.MOST_ROWS, "model"),
        *screens.more_metrics_lines(document.means),
        *(section for section in requested_sections(document) if isinstance(section, Line)),
        Line(_tests_caption(document)),
        Line(", ".join(suggestions), "Also:"),
        *screens.as_details(details(document)),
    ]


def _model_table(document: GsdDocument) -> Table:
    """Return a table of the models, top of the Hasse diagram first, with the models that each dominates."""
    analysis, models, means = document.analyses[-1], document.provenance.models, document.means
    level = _model_levels(analysis)
    order = sorted(range(len(models)), key=lambda i: (level[i], i))
    number = {i: at for at, i in enumerate(order, 1)}
    columns: list[RowColumn] = [
        (Column(""), lambda i: str(number[i])),
        (Column("model", "left"), lambda i: Cell(models[i], "" if level[i] else "bold")),
        *((Column(metric_head(mean)), mean.format_mean) for mean in means[: screens.MOST_METRICS]),
        (Column("as good as", "left"), _related_numbers(analysis.relation.dominates, number)),
    ]
    if analysis.tests:
        columns.append((Column("significantly", "left"), _related_numbers(analysis.significant, number)))
    return build_table("", columns, order[: screens.MOST_ROWS], stub=2)


def _related_numbers(relation: Booleans, number: dict[int, int]) -> Callable[[int], str]:
    """Return a function of a model that formats the row numbers of the models it dominates.

    Parameters
    ----------
    relation : ndarray of bool
        True if the row's model dominates the column's.
    number : dict of int to int
        Row number of each model.
    """

    def cell(i: int) -> str:
        """Format the row numbers for model `i`."""
        return numbers.format_ranges(number[j] for j in np.flatnonzero(relation[i]).tolist() if j != i) or "–"

    return cell


def _tests_caption(document: GsdDocument) -> str:
    """Return a caption with the sample size, the detection limit, the threshold and the tests."""
    samples, relabelling, analysis = document.provenance.samples, document.relabelling, document.analyses[-1]
    limit = next(finding.figures for finding in document.findings if finding.kind == "detection-limit")
    size = f"{counted(samples, document.unit)} ({detection_limit_words(int(limit['effective_size']))})"
    if not analysis.tests:
        return f"{size}; nothing was tested ({analysis.threshold})."
    rule = f"{relabelling.family.text}, {CORRECTIONS[relabelling.family.correction]}"
    k, n_separated = (
        len(document.model_names),
        int(np.triu(analysis.significant | analysis.significant.T, 1).sum()),
    )
    pairs = f"{n_separated} of {counted(k * (k - 1) // 2, 'pair')} separated"
    method = f"GSD, {analysis.threshold}, at most {relabelling.resamples:,} relabellings, {rule}"
    return f"{size}; {pairs} ({method})."
