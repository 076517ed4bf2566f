"""Sections of the page docs/calibration.md on answers, gates, and the dominance of vectors."""

from itertools import product

import numpy as np
from calibration_answers import ANSWER_CASES, ROW_CASES, row_name
from calibration_fronts import FRONT_CASES
from calibration_gsd import CORRELATIONS, DELTAS, LEVEL, SAMPLES, gsd_key
from calibration_judges import JUDGE_CASES
from calibration_looks import LEVEL as LOOK_LEVEL
from calibration_looks import LOOK_CASES, LOOKS
from calibration_suites import SUITE_CASES
from calibration_text import (
    LEAST_TABLES,
    LEAST_TABLES_OF_PAIRS,
    NAME,
    OK,
    format_estimate,
    mean,
    section,
    share,
    shares,
    table,
)
from dependent_rows import OUTCOMES
from finding_truths import KINDS
from gate_simulation import CASES, Case
from statistic_simulation import CASES as STATISTIC_CASES
from statistic_simulation import COVERAGE as STATISTIC_COVERAGE
from statistic_simulation import DESIGNS, SCORES, SIZES, STATISTICS, StatisticCase
from statistic_simulation import MOST_FALSE as MOST_FALSE_CLAIMS
from suite_gate_simulation import SUITE_GATES
from suspicions import BENIGN, DEPENDENT, SUSPICIONS

MOST_FALSE = 0.07
MOST_REFUSED, MOST_NEEDLESS = 0.002, 0.02
LEAST_ROWS = 0.93
FEWEST_FOR_ROWS = 30

# Scope of a suite, by whether its tasks are random.
_ANALYSED = "fixed tasks", "random tasks"


def answers(page) -> str:
    """Report each null hypothesis next to its alternative, and the intervals of ranking rows."""
    lines, rows = [], []
    for case, outcomes in page.iter_outcomes("answers", ANSWER_CASES, NAME):
        rates = shares(outcomes)
        marks = [page.at_most(MOST_FALSE, rates[:2], f"false positives, {case.name}", outcomes)]
        cells = [format_estimate(rate) for rate in rates]
        for order in (1, 2):
            if order not in case.orders:
                cells[1 + order] = "–"
            elif case.promised is not None:
                power = rates[1 + order]
                cells[1 + order] = f"**{format_estimate(power)}**"
                label = f"found in order {order}, {case.name}: {format_estimate(power)}"
                least = LEAST_TABLES if case.rival == "tail" else LEAST_TABLES_OF_PAIRS
                marks.append(page.mark(power[0] >= case.promised, label, outcomes, least))
        verdict = next((mark for mark in marks if mark != OK), OK)
        lines.append([case.name, f"{len(outcomes):,}", *cells, verdict])
    for case, outcomes in page.iter_outcomes("rows", ROW_CASES, row_name):
        coverage, name, mark = share(outcomes[:, 0]), row_name(case), "no limit"
        if case[1] >= FEWEST_FOR_ROWS:
            mark = page.mark(
                coverage[0] >= LEAST_ROWS, f"all rows, {name}: {format_estimate(coverage)}", outcomes
            )
        rows.append([name, f"{len(outcomes):,}", format_estimate(coverage), mark])
    detected = "found, order 1", "found, order 2", "best known test", "result"
    head = ("models", "tables", "false positives, order 1", "false positives, order 2", *detected)
    together = table(("models", "tables", "all intervals hold", f"≥ {LEAST_ROWS}"), rows)
    return section("Difficult cases", table(head, lines), together)


def gates(page) -> str:
    """Report passes and failures of gates on pairs with a known difference."""
    rows = []
    cases = [(case, n) for case in CASES for n in case.sizes]
    for (case, n), outcomes in page.iter_outcomes(
        "gates", cases, lambda case_and_size: case_and_size[0].key(case_and_size[1])
    ):
        rates = shares(outcomes)
        errors = [rates[at] for at in _errors(case)]
        mark = page.at_most(case.promised, errors, f"gate, {case.key(n)}", outcomes)
        rows.append([case.name, str(n), f"{len(outcomes):,}", *_cells(case, rates), mark])
    head = ("models", "n", "tables", "claim passes", "claim fails", "coverage", "result")
    return section("Gates", table(head, rows))


def statistics(page) -> str:
    """Report claims on every statistic at their boundary, over three distributions of scores."""
    rows = []
    for statistic, design in product(STATISTICS, DESIGNS):
        cells, marks = [], []
        for n in SIZES:
            cases = [StatisticCase(statistic, design, scores, n) for scores in SCORES]
            parts = [outcomes for _, outcomes in page.iter_outcomes("statistics", cases)]
            if len(parts) < len(cases):
                cells += ["–", "–"]
                continue
            pooled = np.concatenate(parts)
            false = [share(column) for column in pooled.T if np.isfinite(column).all()]
            # Two columns a contrast: falsely significant, and falsely contradicted.
            pairs = [pair for pair in np.split(pooled, 3, axis=1) if np.isfinite(pair).all()]
            missed = [share(pair.any(axis=1)) for pair in pairs]
            label, least = f"claims on {statistic}, {design}, n={n}", max(missed)
            low, high = STATISTIC_COVERAGE[0], 1.0 if cases[0].discrete else STATISTIC_COVERAGE[1]
            covers = low - least[1] <= 1 - least[0] and 1 - min(missed)[0] <= high + min(missed)[1]
            marks.append(page.mark(covers, f"{label}: coverage {1 - least[0]:.3f}", pooled))
            marks.append(page.at_most(MOST_FALSE_CLAIMS, false, f"{label}: false claims", pooled))
            cells += [f"{1 - least[0]:.3f}", f"{max(false)[0]:.3f}"]
        missed_marks = [mark for mark in marks if mark != OK]
        rows.append([statistic.replace(">=", " ≥ "), design, *cells, missed_marks[0] if missed_marks else OK])
    head = [f"{kind}, n = {n}" for n in SIZES for kind in ("coverage", "false")]
    counts = [len(page.outcomes("statistics", case.key)) for case in STATISTIC_CASES]
    claims = table(("statistic", "design", *head, "result"), rows)
    return section("Claims on statistics", claims, least=min(counts), most=max(counts))


def looks(page) -> str:
    """Report repeated looks at gates with --anytime: false passes and stopping times."""
    false, stops = [], []
    for case, outcomes in page.iter_outcomes("looks", LOOK_CASES, NAME):
        tables, stop = f"{len(outcomes):,}", outcomes[:, 0]
        passed = share(stop > 0)
        if case.median is None:
            mark = page.at_most(LOOK_LEVEL, [passed], f"looks, {case.name}", outcomes)
            once = "–" if case.clusters else format_estimate(share(outcomes[:, 1]))
            false.append([case.name, tables, format_estimate(passed), once, mark])
            continue
        of_passed, of_all = np.median(stop[stop > 0]), np.median(np.where(stop > 0, stop, np.inf))
        # Medians are looks.
        near = abs(of_passed - case.median) <= case.median / 10 + LOOKS.step
        label = f"looks, {case.name}: median {of_passed:,.0f}"
        mark = page.mark(near, label, outcomes)
        overall = f"{of_all:,.0f}" if np.isfinite(of_all) else f"more than {LOOKS[-1]:,}"
        stops.append(
            [
                case.name,
                tables,
                format_estimate(passed),
                f"{of_passed:,.0f}",
                overall,
                f"{case.median:,}",
                mark,
            ]
        )
    first = table(
        ("differences", "tables", "passes at some look", "fixed-sample test", f"≤ {LOOK_LEVEL:g}"), false
    )
    head = ("differences", "tables", "passes", "median of these", "median of all runs", "reference", "result")
    return section("Sequential gates", first, table(head, stops))


def findings(page) -> str:
    """Report findings of rankings of random tables that contradict the truth or the table itself."""
    rows = []
    for kind, outcomes in page.iter_outcomes("findings", KINDS, str):
        truth, table_itself = share(outcomes[:, 0]), share(outcomes[:, 1])
        by_truth, by_table = format_estimate(truth), format_estimate(table_itself)
        label = f"findings, {kind}: {by_truth} by the truth, {by_table} by the table"
        passed = truth[0] <= 0.06 + truth[1] and table_itself[0] == 0
        mark = page.mark(passed, label, outcomes)
        rows.append([kind, f"{len(outcomes):,}", format_estimate(truth), format_estimate(table_itself), mark])
    head = ("kind", "tables", "contradicts the truth", "contradicts the table", "≤ 0.06, 0")
    return section("Findings", table(head, rows))


def dependent(page) -> str:
    """Report the outcomes on dependent rows."""
    rows = []
    for case, outcomes in page.iter_outcomes("dependent", OUTCOMES, NAME):
        outcome_values = outcomes[np.isfinite(outcomes[:, 0]), 0]
        estimate = share(outcome_values)
        if case.kind == "halved":
            estimate = (
                float(np.median(outcome_values)),
                1.25 * float(outcome_values.std()) / np.sqrt(outcome_values.size),
            )
        passed = case.least - estimate[1] <= estimate[0] <= case.most + estimate[1]
        mark = page.mark(passed, f"{case.name}: {format_estimate(estimate)}", outcomes)
        rows.append(
            [
                case.name,
                f"{len(outcomes):,}",
                format_estimate(estimate),
                f"{case.least:g} to {case.most:g}",
                mark,
            ]
        )
    return section("Dependent samples", table(("case", "tables", "share", "limits", "result"), rows))


def suspicions(page) -> str:
    """Report the register of suspicions: false refusals and warnings, and faults detected."""
    benign, harmful, claims, spoken = [], [], [], []
    for kind, outcomes in page.iter_outcomes("suspicions", BENIGN, NAME):
        rates = shares(np.column_stack([outcomes[:, :2].any(axis=1), outcomes[:, 2:].any(axis=1)]))
        mark = page.at_most(MOST_REFUSED, rates[:1], f"refused or misread, {kind.name}", outcomes)
        benign.append([kind.name, f"{len(outcomes):,}", *map(format_estimate, rates), mark])
        spoken.append(outcomes[:, 2:])
    for at, suspicion in enumerate(SUSPICIONS):
        for _, outcomes in page.iter_outcomes("suspicions", [suspicion.harmful], NAME):
            found = share(outcomes[:, 2 + at])
            needless = share(np.concatenate([rows[:, at] for rows in spoken])) if spoken else (np.nan, 0.0)
            mark = page.at_most(MOST_NEEDLESS, [needless], f"needless, {suspicion.name}", outcomes)
            cells = [suspicion.name, f"`{suspicion.place}`", suspicion.harmful.name, suspicion.example]
            harmful.append([*cells, *map(format_estimate, (found, needless)), mark])
    for kind, outcomes in page.iter_outcomes("claims", DEPENDENT, NAME):
        answered = outcomes[outcomes[:, 0] == 0]
        rates = [share(outcomes[:, 0]), share(answered[:, 1]), share(answered[:, 2])]
        mark = page.at_most(MOST_FALSE, rates[1:], f"false claims, {kind.name}", outcomes)
        claims.append([kind.name, f"{len(outcomes):,}", *map(format_estimate, rates), mark])
    heads = (
        ("good tables", "tables", "refused or misread", "some warning", f"≤ {MOST_REFUSED}"),
        ("suspicion", "function", "harmful tables", "public example", "found", "on good tables", "result"),
        ("equal models", "tables", "refused", "false winner", "false pass", f"≤ {MOST_FALSE}"),
    )
    return section("Register of suspicions", *map(table, heads, (benign, harmful, claims)))


def _errors(case: Case) -> tuple[int, ...]:
    """Return the columns that are errors: passes beyond the margin, and failures exactly at it."""
    return (0, 1) if case.truth == -case.margin else (0,)


def _cells(case: Case, rates: list[tuple[float, float]]) -> list[str]:
    cells = [format_estimate(rate) for rate in rates]
    for column in _errors(case):
        cells[column] = f"**{cells[column]}**"
    return [*cells[:2], "–" if case.order else cells[2]]


def dominance_of_vectors(page) -> str:
    """Report the size of the relabelling test."""
    rows = []
    for correlation, outcomes in page.iter_outcomes("gsd", CORRELATIONS, gsd_key):
        for delta, column in zip(DELTAS, np.asarray(outcomes).T, strict=True):
            rate = share(column)
            label = f"gsd, correlation {correlation:g}, δ = {delta:g}"
            mark = page.at_most(LEVEL, [rate], label, outcomes, errors=2)
            rows.append([f"{correlation:g}", f"{delta:g}", f"{len(outcomes):,}", format_estimate(rate), mark])
    body = table(("correlation", "δ", "tables", "significantly dominant", f"≤ {LEVEL:g}"), rows)
    return section("Generalized stochastic dominance", body, level=LEVEL, samples=SAMPLES)


def suites(page) -> str:
    """Report false alarms and power on suites, for fixed and for random tasks."""
    rows = []
    for case, outcomes in page.iter_outcomes("suites", SUITE_CASES):
        rates, verdict = shares(outcomes[:, :2]), "–"
        if case.promised:
            verdict = page.at_most(MOST_FALSE, rates, f"suites, {case.key}", outcomes)
        detected = [format_estimate(mean(column)) if case.ahead else "–" for column in outcomes.T[2:4]]
        rows.append(
            [
                case.name,
                _ANALYSED[case.random],
                f"{len(outcomes):,}",
                *map(format_estimate, rates),
                *detected,
                verdict,
            ]
        )
    orders = "false positives, order 1", "false positives, order 2", "found, order 1", "found, order 2"
    body = table(("suite", "analysed as", "tables", *orders, "result"), rows)
    return section("Suites of tasks", body, _gates_of_suites(page))


def _gates_of_suites(page) -> str:
    """Report passes and failures of gates over suites at their boundary."""
    rows = []
    for case, outcomes in page.iter_outcomes("suites", SUITE_GATES):
        rates = shares(outcomes)
        verdict = page.at_most(case.promised, rates[:2], f"gate over a suite, {case.key}", outcomes)
        rows.append([case.key, f"{len(outcomes):,}", *map(format_estimate, rates), verdict])
    return table(("claims", "tables", "passes", "fails", "coverage", "result"), rows)


def fronts(page) -> str:
    """Report false and true statements about the Pareto front."""
    rows = []
    for case, outcomes in page.iter_outcomes("fronts", FRONT_CASES, NAME):
        rates = shares(outcomes[:, :2])
        mark = page.at_most(LEVEL, rates, f"fronts, {case.name}", outcomes, errors=2)
        of = int(case.off.sum()), int(case.on.sum())
        detected = [
            f"{column.mean():.1f} of {all_}" if all_ else "–"
            for column, all_ in zip(outcomes.T[2:], of, strict=True)
        ]
        rows.append([case.name, f"{len(outcomes):,}", *map(format_estimate, rates), *detected, mark])
    body = table(
        ("case", "tables", "falsely off", "falsely on", "correctly off", "correctly on", f"≤ {LEVEL:g}"), rows
    )
    return section("Pareto fronts", body, level=LEVEL)


def judges(page) -> str:
    """Report coverage, widths and false alarms of judge scores calibrated on a few labels."""
    rows = []
    for case, outcomes in page.iter_outcomes("judges", JUDGE_CASES, NAME):
        coverage, widths = shares(outcomes[:, :3]), [mean(column) for column in outcomes.T[3:5]]
        # The models are equal, so any decision of the gate is an error.
        false = shares(np.column_stack([outcomes[:, 5:7], outcomes[:, 7:9].max(axis=1)]))
        least = zip((0.93, 0.93, 0.90), coverage, strict=True)
        passed = all(low - 2 * error <= rate <= 0.97 + 2 * error for low, (rate, error) in least)
        passed = passed and all(width <= 1.05 + error for width, error in widths)
        passed = passed and all(rate <= MOST_FALSE + error for rate, error in false)
        mark = page.mark(
            passed, f"judges, {case.name}: {', '.join(map(format_estimate, coverage))}", outcomes
        )
        rows.append(
            [case.name, f"{len(outcomes):,}", *map(format_estimate, [*coverage, *widths, *false]), mark]
        )
    head = "mean", "difference", "tail difference", "width", "tail width"
    wrong = "false claims, order 1", "false claims, order 2", "gate wrong"
    return section(
        "Judge scores calibrated on human labels", table(("judge", "tables", *head, *wrong, "result"), rows)
    )
