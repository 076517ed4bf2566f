"""Calibrate the tests on simulated tables with a known truth: ``make calibrate``.

The parts are the family-wise error rate with identical models, boundary cases, power, rank sets, difficult
null hypotheses, intervals, hidden risks, gates, their statistics, dominance of vectors, suites, Pareto
fronts, and a comparison with other packages. Results are appended to a file, so an interrupted run can be
resumed while the measured code is unchanged. Finally the page docs/calibration.md is written.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from calibration_answers import ANSWER_CASES, ROW_CASES, answer_rows, row_name, row_rows
from calibration_boundaries import boundaries
from calibration_cases import DIFFERENT, DISASTERS, IDENTICAL, TIED
from calibration_effects import COVERAGE, RISKS, SIZES, coverage_rows, risk_rows
from calibration_fronts import FRONT_CASES, front_rows
from calibration_gsd import CORRELATIONS, gsd_key, gsd_rows
from calibration_judges import JUDGE_CASES, judge_rows
from calibration_looks import LOOK_CASES, look_rows
from calibration_page import Page
from calibration_rivals import CASES, RIVALS, rival_task
from calibration_store import ROOT, Job, Store, code_version
from calibration_suites import SUITE_CASES, suite_rows
from calibration_tables import boundary_task, disaster_task, table_task
from dependent_rows import OUTCOMES, outcome_rows
from finding_truths import KINDS, finding_rows
from gate_simulation import CASES as GATES
from gate_simulation import gate_rows
from statistic_simulation import CASES as STATISTIC_CASES
from statistic_simulation import statistic_rows
from suite_gate_simulation import SUITE_GATES, suite_gate_rows
from suspicions import BENIGN, DEPENDENT, SUSPICIONS, claim_rows, suspicion_rows


def jobs_of(tables: int) -> dict[str, list[Job]]:
    """Return the jobs of every part, with more tables for rare events and quick cases."""
    named = [(f"{case.name}; n={n}", case.name, n) for n in (50, 200) for case in boundaries(n)]
    risks = [(f"{case.name}; n={n}", at, n) for at, case in enumerate(RISKS) for n in case.sizes]
    gates = [(case, at, n) for at, case in enumerate(GATES) for n in case.sizes]
    spreads = [(f"{name}; n={n}", (name, n)) for name in COVERAGE for n in SIZES]
    rivals = [(rival, case) for rival in RIVALS if rival.installed for case in CASES if rival.answers(case)]
    # Power needs fewer tables than rare false alarms, because each table has many pairs.
    different = [(power.case, tables // (2 * power.case.costs)) for power in DIFFERENT]
    suites = [("suites", case.key, suite_rows, case, tables // case.costs) for case in SUITE_CASES]
    suites += [("suites", case.key, suite_gate_rows, case, 2 * tables, 20) for case in SUITE_GATES]
    # A share next to 0.95 between bounds of 0.93 and 0.97 takes many tables; families of twenty claims take
    # as long as a hundred of one; looks are quick, and a share below 0.025 takes many.
    specs = {
        "identical": [("tables", case.key, table_task, case, tables // case.costs) for case in IDENTICAL],
        "different": [("tables", case.key, table_task, case, count, 5) for case, count in different],
        "tied": [("tables", case.key, table_task, case, tables) for case in TIED],
        "disasters": [("disasters", case.key, disaster_task, case, tables, 50) for case in DISASTERS],
        "boundaries": [("boundaries", key, boundary_task, tuple(of), tables, 25) for key, *of in named],
        "intervals": [("intervals", key, coverage_rows, of, 5 * tables, 250) for key, of in spreads],
        "risks": [("risks", key, risk_rows, tuple(of), tables) for key, *of in risks],
        "answers": [
            ("answers", case.name, answer_rows, case.name, tables // case.costs, 5) for case in ANSWER_CASES
        ],
        "rows": [("rows", row_name(case), row_rows, case, 5 * tables, 50) for case in ROW_CASES],
        "gates": [
            ("gates", case.key(n), gate_rows, (at, n), tables if case.columns > 1 else 4 * tables, 20)
            for case, at, n in gates
        ],
        "statistics": [
            ("statistics", case.key, statistic_rows, case, tables, 20) for case in STATISTIC_CASES
        ],
        "looks": [("looks", case.name, look_rows, case.name, max(tables, 1000), 50) for case in LOOK_CASES],
        "gsd": [("gsd", gsd_key(case), gsd_rows, case, tables) for case in CORRELATIONS],
        "suites": suites,
        "fronts": [("fronts", case.name, front_rows, case, tables // case.costs) for case in FRONT_CASES],
        "judges": [("judges", case.name, judge_rows, case, 2 * tables) for case in JUDGE_CASES],
        "findings": [("findings", kind, finding_rows, kind, max(tables // 2, 125)) for kind in KINDS],
        "dependent": [
            ("dependent", case.name, outcome_rows, case, case.tables * tables // 400, 20) for case in OUTCOMES
        ],
        "suspicions": [
            *[("suspicions", kind.name, suspicion_rows, kind, 5 * tables // 2, 50) for kind in BENIGN],
            *[
                ("suspicions", suspicion.harmful.name, suspicion_rows, suspicion.harmful, tables, 50)
                for suspicion in SUSPICIONS
            ],
            *[("claims", kind.name, claim_rows, kind, tables, 20) for kind in DEPENDENT],
        ],
        "rivals": [
            (
                "rivals",
                f"{rival.name}; {case.key}",
                rival_task,
                (rival.name, case),
                min(tables, rival.tables or tables),
                5,
            )
            for rival, case in rivals
        ],
    }
    return {part: [Job(*job) for job in jobs] for part, jobs in specs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400, help="tables a case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--store", type=Path, help="file of results; default in build/, named by the code it measures"
    )
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "calibration.md", help="page to write")
    parser.add_argument("--page-only", action="store_true", help="simulate nothing, write what is there")
    parser.add_argument(
        "--part", action="append", choices=list(jobs_of(1)), help="only these parts; repeatable"
    )
    options = parser.parse_args()
    store = Store(options.store or ROOT / "build" / "calibration" / f"{code_version()}.jsonl")
    start = time.perf_counter()
    jobs = jobs_of(options.tables)
    if not options.page_only:
        selected = [job for part in options.part or jobs for job in jobs[part]]
        store.run(selected, processes=options.jobs)
    page = Page(store, [job for some in jobs.values() for job in some]).text()
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page, encoding="utf-8")
    print(page)
    print(f"{time.perf_counter() - start:.0f} s; results in {store.path}")


if __name__ == "__main__":
    import calibrate  # workers import functions by module name, and __main__ has none

    calibrate.main()
