"""Write docs/calibration.md: simulated figures, their Monte Carlo errors, and the promised values."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import product
from typing import Any

import numpy as np
from calibration_boundaries import boundaries
from calibration_cases import DIFFERENT, DISASTERS, IDENTICAL, TIED, Case
from calibration_effects import COVERAGE, LEAST_COVERAGE, RISKS, SIZES
from calibration_rivals import CASES, RIVALS
from calibration_sections import (
    answers,
    dependent,
    dominance_of_vectors,
    findings,
    fronts,
    gates,
    judges,
    looks,
    statistics,
    suites,
    suspicions,
)
from calibration_store import Job, Store
from calibration_tables import (
    CLAIM_NAMES,
    COVERED,
    DETECTED,
    FALSE,
    RESAMPLES,
    SECONDS,
    SETS_FIRST,
    SETS_SECOND,
)
from calibration_text import (
    KEY,
    LEAST_TABLES,
    LEAST_TABLES_OF_PAIRS,
    MISSED,
    OK,
    TOO_FEW,
    format_estimate,
    mean,
    section,
    share,
    shares,
    table,
)

# Largest family-wise error rate at a nominal 0.05, with one Monte Carlo error added.
MOST_ERROR = 0.07
LEAST_SETS = 0.93
INTERVALS = (0.93, 0.97)
FEWEST_FOR_INTERVALS = 30
LEAST_TABLES_OF_INTERVALS = 500


class Page:
    """Sections of the page, and the lists of missed promises and of missing results.

    Parameters
    ----------
    store : Store
        Outcomes of the simulations.
    jobs : iterable of Job
        Requested simulations.
    """

    def __init__(self, store: Store, jobs: Iterable[Job]) -> None:
        self._store = store
        self._requested = {(job.part, job.key): job.tables for job in jobs}
        self.missed: list[str] = []
        self.lacking: set[tuple[str, str]] = set()
        self.promises = 0
        self.undecided = 0

    def text(self) -> str:
        parts = [
            self.errors(),
            self.power(),
            self.rank_sets(),
            answers(self),
            self.boundaries(),
            self.disasters(),
            self.intervals(),
            self.risks(),
            gates(self),
            statistics(self),
            looks(self),
            dominance_of_vectors(self),
            suites(self),
            fronts(self),
            judges(self),
            findings(self),
            dependent(self),
            suspicions(self),
            self.rivals(),
        ]
        return section("Calibration", self.summary()) + "".join(parts)

    def outcomes(self, part: str, key: str) -> np.ndarray:
        return self._store.outcomes(part, key)

    def summary(self) -> str:
        if not self.promises and not self.undecided:
            return "Nothing was simulated.\n"
        passed = self.promises - len(self.missed)
        lines = [
            f"**Figures with a limit: {passed} ok, {len(self.missed)} missed, "
            f"{self.undecided} with too few tables.**"
        ]
        lines += [f"- MISSED: {miss}" for miss in self.missed]
        if self.lacking:
            lines.append(
                f"\nThe run is incomplete: {len(self.lacking)} cases have fewer tables than planned, or "
                "none. `make calibrate` continues where it stopped."
            )
        return "\n".join(lines) + "\n"

    def mark(self, passed: bool, label: str, outcomes: Sized, least: int = LEAST_TABLES) -> str:
        """Mark a promised figure as kept or missed; with too few tables it is marked as neither."""
        if len(outcomes) < least:
            self.undecided += 1
            return TOO_FEW
        self.promises += 1
        if not passed:
            self.missed.append(label)
        return OK if passed else f"**{MISSED}**"

    def at_most(
        self, most: float, rates: Sequence[tuple[float, float]], label: str, outcomes: Sized, errors: int = 1
    ) -> str:
        """Mark whether shares are at most the promised value, plus Monte Carlo errors."""
        worst = max(rates, key=lambda rate: rate[0] - errors * rate[1])
        return self.mark(worst[0] <= most + errors * worst[1], f"{label}: {format_estimate(worst)}", outcomes)

    def iter_outcomes(
        self, part: str, cases: Iterable[Any], key: Callable[[Any], str] = KEY
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield the cases that have outcomes, with their outcomes."""
        for case in cases:
            outcomes = self._store.outcomes(part, key(case))
            if len(outcomes) < self._requested.get((part, key(case)), 1):
                self.lacking.add((part, key(case)))
            if len(outcomes):
                yield case, outcomes

    def errors(self) -> str:
        rows = []
        for case, outcomes in self.iter_outcomes("tables", IDENTICAL):
            rates, verdict = shares(outcomes[:, FALSE] > 0), "no limit"
            if case.promised:
                verdict = self.at_most(MOST_ERROR, rates, f"false positives, {case.key}", outcomes)
            spent = f"{outcomes[:, RESAMPLES].mean():,.0f}", f"{outcomes[:, SECONDS].mean():.2f}"
            rows.append([*_case(case), str(len(outcomes)), *map(format_estimate, rates), *spent, verdict])
        head = ["identical models", "k", "n", "tables", *CLAIM_NAMES, "resamples", "CPU s", f"≤ {MOST_ERROR}"]
        return section("Family-wise error rate", table(head, rows))

    def power(self) -> str:
        rows = []
        for power, outcomes in self.iter_outcomes("tables", DIFFERENT, lambda power: power.case.key):
            case = power.case
            detected = [mean(column) for column in outcomes[:, DETECTED].T]
            marks = [
                self.mark(
                    value[0] >= least,
                    f"power, {case.key}, order {order}: {format_estimate(value, 1)}, wanted {least:g}",
                    outcomes,
                    LEAST_TABLES_OF_PAIRS,
                )
                for order, value, least in zip((1, 2), detected, power.promised, strict=False)
                if least is not None
            ]
            limits = " / ".join("–" if least is None else f"{least:g}" for least in power.promised)
            pairs = max(int(case.better(order).sum()) for order in (1, 2))
            wrong = share((outcomes[:, FALSE] > 0).any(axis=1))
            verdict = "no limit" if not marks else next((mark for mark in marks if mark != OK), OK)
            cells = [format_estimate(value, 1) for value in detected]
            rows.append(
                [
                    *_case(case),
                    str(len(outcomes)),
                    str(pairs),
                    *cells,
                    format_estimate(wrong),
                    limits,
                    verdict,
                ]
            )
        labels = [*CLAIM_NAMES, "any false claim", "limit (relative)", "result"]
        head = ["models", "k", "n", "tables", "true differences", *labels]
        return section("Power", table(head, rows))

    def rank_sets(self) -> str:
        rows = []
        for case, outcomes in self.iter_outcomes("tables", (*(power.case for power in DIFFERENT), *TIED)):
            coverage = shares(outcomes[:, [SETS_FIRST, SETS_SECOND]])
            label = f"rank sets, {case.key}: {format_estimate(min(coverage))}"
            verdict = self.mark(min(coverage)[0] >= LEAST_SETS, label, outcomes)
            rows.append([*_case(case), str(len(outcomes)), *map(format_estimate, coverage), verdict])
        head = ["scores", "k", "n", "tables", "order 1", "order 2", f"≥ {LEAST_SETS}"]
        return section("Rank sets", table(head, rows))

    def boundaries(self) -> str:
        rows = []
        cases = [(case, n) for n in (50, 200) for case in boundaries(n)]
        for (case, n), outcomes in self.iter_outcomes("boundaries", cases, _name_and_size):
            count = len(case.claims)
            for at, claim in enumerate(case.claims):
                rates = shares(outcomes[:, [at, count + at]])
                label = f"{claim.kind}, order {claim.order}"
                rows.append([case.name, label, str(n), str(len(outcomes)), *map(format_estimate, rates)])
        head = ["case", "claim", "n", "tables", "bootstrap (default)", "`--variance clt`"]
        return section("Claims at their boundary", table(head, rows))

    def disasters(self) -> str:
        rows = [
            [case.name, str(case.n), str(len(outcomes)), format_estimate(share(outcomes[:, 0]))]
            for case, outcomes in self.iter_outcomes("disasters", DISASTERS)
        ]
        head = ["case, direct claim", "n", "tables", "significant"]
        return section("Events too rare to detect", table(head, rows))

    def intervals(self) -> str:
        rows, cases = [], product(COVERAGE, SIZES)
        for (name, n), outcomes in self.iter_outcomes("intervals", cases, "{0[0]}; n={0[1]}".format):
            coverage = shares(outcomes)
            least, noise = LEAST_COVERAGE.get(name, {}).get(n, INTERVALS[0]), 2 * coverage[0][1]
            # With few differing samples, no interval of rates is exact.
            most = 1.0 if name.startswith(("0/1", "5-point")) else INTERVALS[1]
            inside = least - noise <= coverage[0][0] <= most + noise
            label = f"interval of the mean, {name}, n = {n}: {format_estimate(coverage[0])}"
            verdict = self.mark(inside, label, outcomes, LEAST_TABLES_OF_INTERVALS)
            rows.append([name, str(n), str(len(outcomes)), *map(format_estimate, coverage), verdict])
        head = ["scores", "n", "tables", "difference of means", "of the worst 5 %", "limit for means"]
        return section("Intervals of differences", table(head, rows), self._intervals_of_tables())

    def _intervals_of_tables(self) -> str:
        """Report the same intervals as computed by the complete study, for the cases above."""
        cases = [*IDENTICAL, *(power.case for power in DIFFERENT), *TIED]
        chosen = [case for case in cases if case.promised and case.n >= FEWEST_FOR_INTERVALS]
        covered = [outcomes[:, COVERED] for _, outcomes in self.iter_outcomes("tables", chosen)]
        if not covered:
            return ""
        together = np.concatenate(covered)
        every = share(together)
        inside = INTERVALS[0] <= every[0] <= INTERVALS[1]
        label = f"intervals of all cases: {format_estimate(every)}"
        verdict = self.mark(inside, label, together, LEAST_TABLES_OF_INTERVALS)
        rate = format_estimate(every)
        return (
            f"\nIn all tables above with finite variance and n ≥ {FEWEST_FOR_INTERVALS}, the coverage for "
            f"the first model against the last is {rate} ({len(covered)} cases; {verdict}).\n"
        )

    def risks(self) -> str:
        rows = []
        cases = [(case, n) for case in RISKS for n in case.sizes]
        for (case, n), outcomes in self.iter_outcomes("risks", cases, _name_and_size):
            wrong = share(outcomes[:, 1] > 0 if case.risky else (outcomes > 0).any(axis=1))
            first = format_estimate(share(outcomes[:, 0])) if case.risky else "–"
            rows.append([case.name, str(n), str(len(outcomes)), first, format_estimate(wrong)])
        head = ["eight models", "n", "tables", "risky model found", "false positives"]
        return section("Hidden risks", table(head, rows))

    def rivals(self) -> str:
        absent = sorted({rival.package for rival in RIVALS if not rival.installed})
        text = ""
        for case in CASES:
            rows = []
            for rival in RIVALS:
                outcomes = self._store.outcomes("rivals", f"{rival.name}; {case.key}")
                if not len(outcomes):
                    continue
                answered = outcomes[outcomes[:, 3] == 0]
                if not len(answered):
                    rows.append([rival.name, str(len(outcomes)), "cannot answer", "–", "–"])
                    continue
                power = "–" if case.identical else format_estimate(mean(answered[:, 1]), 2)
                wrong = format_estimate(share(answered[:, 0] > 0))
                rows.append([rival.name, str(len(answered)), wrong, power, f"{answered[:, 2].mean():.3f}"])
            if rows:
                pairs = int(case.better(2 if case.spread else 1).sum())
                head = [
                    "package",
                    "tables",
                    "false positives",
                    f"true differences found, of {pairs}",
                    "seconds",
                ]
                kind = ", identical" if case.identical else ""
                text += f"\n**{case.name}{kind}, k = {case.k}, n = {case.n}**\n\n" + table(head, rows)
        if absent:
            text += f"\nNot installed when this page was written: {', '.join(absent)}.\n"
        return section("Other packages on the same tables", text)


def _name_and_size(case: tuple[Any, int]) -> str:
    return f"{case[0].name}; n={case[1]}"


def _case(case: Case) -> list[str]:
    return [case.name, str(case.k), str(case.n)]
