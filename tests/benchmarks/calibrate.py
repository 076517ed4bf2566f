"""Measure the tests on simulated tables whose truth is known: ``make calibrate``.

Family-wise error with identical models, boundaries, power, rank sets, answers that used to go wrong,
intervals, hidden risks, gates, dominance of vectors, suites, fronts, and what other packages say of the same
tables. Results are appended to a file as they come: an interrupted run goes on where it stopped, as long as
the code it measures is the same. At the end the page docs/calibration.md is written.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from calibration_answers import ANSWER_CASES, ROW_CASES, answer_rows, row_name, row_rows
from calibration_boundaries import boundaries
from calibration_cases import DIFFERENT, DISASTERS, IDENTICAL, TIED
from calibration_effects import COVERAGE, RISKS
from calibration_fronts import FRONT_CASES, front_rows
from calibration_gsd import CORRELATIONS, gsd_key, gsd_rows
from calibration_judges import JUDGE_CASES, judge_rows
from calibration_looks import LOOK_CASES, look_rows
from calibration_page import Page
from calibration_rivals import CASES, RIVALS, rival_task
from calibration_store import ROOT, Job, Store, code_version
from calibration_suites import SUITE_CASES, suite_rows
from calibration_tables import boundary_task, coverage_rows, disaster_task, risk_rows, table_task
from dependent_rows import OUTCOMES, outcome_rows
from finding_truths import KINDS, finding_rows
from gate_simulation import CASES as GATES
from gate_simulation import gate_rows
from suite_gate_simulation import SUITE_GATES, suite_gate_rows


def identical_jobs(tables: int) -> list[Job]:
    return [Job("tables", case.key, table_task, case, tables // case.costs) for case in IDENTICAL]


def different_jobs(tables: int) -> list[Job]:
    # Pairs found are many a table, and need fewer of them than a rare false alarm.
    cases = [power.case for power in DIFFERENT]
    return [Job("tables", case.key, table_task, case, tables // (2 * case.costs), 5) for case in cases]


def tied_jobs(tables: int) -> list[Job]:
    return [Job("tables", case.key, table_task, case, tables) for case in TIED]


def disaster_jobs(tables: int) -> list[Job]:
    return [Job("disasters", case.key, disaster_task, case, tables, 50) for case in DISASTERS]


def boundary_jobs(tables: int) -> list[Job]:
    return [
        Job("boundaries", f"{case.name}; n={n}", boundary_task, (case.name, n), tables, 25)
        for n in (50, 200)
        for case in boundaries(n)
    ]


def interval_jobs(tables: int) -> list[Job]:
    # A share next to 0.95 between bounds of 0.93 and 0.97 takes many, and they are quick.
    return [
        Job("intervals", f"{name}; n={n}", coverage_rows, (name, n), 5 * tables, 250)
        for name in COVERAGE
        for n in (30, 100, 300)
    ]


def risk_jobs(tables: int) -> list[Job]:
    return [
        Job("risks", f"{case.name}; n={n}", risk_rows, (number, n), tables)
        for number, case in enumerate(RISKS)
        for n in case.sizes
    ]


def answer_jobs(tables: int) -> list[Job]:
    return [
        Job("answers", case.name, answer_rows, case.name, tables // case.costs, 5) for case in ANSWER_CASES
    ]


def row_jobs(tables: int) -> list[Job]:
    return [Job("rows", row_name(case), row_rows, case, 5 * tables, 50) for case in ROW_CASES]


def gate_jobs(tables: int) -> list[Job]:
    # Families of twenty claims take as long as a hundred of one.
    return [
        Job("gates", case.key(n), gate_rows, (at, n), tables if case.columns > 1 else 4 * tables, 20)
        for at, case in enumerate(GATES)
        for n in case.sizes
    ]


def look_jobs(tables: int) -> list[Job]:
    # They are quick, and a share below 0.025 takes many.
    return [Job("looks", case.name, look_rows, case.name, max(tables, 1000), 50) for case in LOOK_CASES]


def gsd_jobs(tables: int) -> list[Job]:
    return [Job("gsd", gsd_key(one), gsd_rows, one, tables) for one in CORRELATIONS]


def suite_jobs(tables: int) -> list[Job]:
    gates = [Job("suites", one.key, suite_gate_rows, one, 2 * tables, 20) for one in SUITE_GATES]
    return [*(Job("suites", one.key, suite_rows, one, tables // one.costs) for one in SUITE_CASES), *gates]


def front_jobs(tables: int) -> list[Job]:
    return [Job("fronts", one.name, front_rows, one, tables // one.costs) for one in FRONT_CASES]


def judge_jobs(tables: int) -> list[Job]:
    # A share next to 0.95 between bounds takes many tables, as intervals do.
    return [Job("judges", one.name, judge_rows, one, 2 * tables) for one in JUDGE_CASES]


def finding_jobs(tables: int) -> list[Job]:
    return [Job("findings", kind, finding_rows, kind, max(tables // 2, 125)) for kind in KINDS]


def dependent_jobs(tables: int) -> list[Job]:
    return [Job("dependent", one.name, outcome_rows, one, one.tables * tables // 400, 20) for one in OUTCOMES]


def rival_jobs(tables: int) -> list[Job]:
    return [
        Job(
            "rivals",
            f"{rival.name}; {case.key}",
            rival_task,
            (rival.name, case),
            min(tables, rival.tables or tables),
            5,
        )
        for rival in RIVALS
        if rival.installed
        for case in CASES
        if rival.answers(case)
    ]


PARTS = {
    "identical": identical_jobs,
    "different": different_jobs,
    "tied": tied_jobs,
    "disasters": disaster_jobs,
    "boundaries": boundary_jobs,
    "intervals": interval_jobs,
    "risks": risk_jobs,
    "answers": answer_jobs,
    "rows": row_jobs,
    "gates": gate_jobs,
    "looks": look_jobs,
    "gsd": gsd_jobs,
    "suites": suite_jobs,
    "fronts": front_jobs,
    "judges": judge_jobs,
    "findings": finding_jobs,
    "dependent": dependent_jobs,
    "rivals": rival_jobs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400, help="tables a case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--store", type=Path, help="file of results; default in build/, named by the code it measures"
    )
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "calibration.md", help="page to write")
    parser.add_argument("--page-only", action="store_true", help="simulate nothing, write what is there")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="only these parts; repeatable")
    options = parser.parse_args()
    store = Store(options.store or ROOT / "build" / "calibration" / f"{code_version()}.jsonl")
    start = time.perf_counter()
    jobs = {part: make(options.tables) for part, make in PARTS.items()}
    if not options.page_only:
        asked = [job for part in options.part or jobs for job in jobs[part]]
        store.run(asked, processes=options.jobs)
    page = Page(store, [job for some in jobs.values() for job in some]).text()
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page, encoding="utf-8")
    print(page)
    print(f"{time.perf_counter() - start:.0f} s; results in {store.path}")


if __name__ == "__main__":
    import calibrate  # workers import what they run, and a program has no name to import it by

    calibrate.main()
