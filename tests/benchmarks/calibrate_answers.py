"""Simulate the answers that used to go wrong, each null beside an alternative: ``make calibrate``.

Results are kept in a file as they come, and an interrupted run goes on where it stopped; at the end the
section "Answers" of docs/calibration.md is written, and no other.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from calibration_answers import ANSWER_CASES, ROW_CASES, answer_rows, row_name, row_rows
from calibration_page import replace_section, share, shown, table
from calibration_store import ROOT, Job, Store, engine_version

TITLE = "Answers"
INTRODUCTION = """Identical models beside models of which one is better than all others: the share of tables
in which anything is claimed of the first, and the shares of true claims found of the second, in orders 1 and
2, next to the best known test (Wilcoxon's or Mann and Whitney's with Holm's correction over all pairs; for
rare disasters the worst 5 %, as `rank` tests them). Below, the share of tables in which the intervals of all
rows of a ranking by the mean hold the true differences together; 0.95 is wanted.
"""
HEAD = (
    "models",
    "tables",
    "false, order 1",
    "false, order 2",
    "found, order 1",
    "found, order 2",
    "best known",
)


def jobs(tables: int) -> list[Job]:
    answers = [Job("answers", one.name, answer_rows, one.name, tables, 5) for one in ANSWER_CASES]
    rows = [Job("rows", row_name(case), row_rows, case, tables, 50) for case in ROW_CASES]
    return answers + rows


def section(store: Store) -> str:
    """The text, with what there is so far."""
    lines = []
    for case in ANSWER_CASES:
        outcomes = store.outcomes("answers", case.name)
        if len(outcomes):
            cells = [shown(share(column)) for column in outcomes.T]
            cells = [cell if at != 2 or 1 in case.orders else "–" for at, cell in enumerate(cells)]
            lines.append([case.name, f"{len(outcomes):,}", *cells])
    rows = []
    for case in ROW_CASES:
        outcomes = store.outcomes("rows", row_name(case))
        if len(outcomes):
            rows.append([row_name(case), f"{len(outcomes):,}", shown(share(outcomes[:, 0]))])
    together = table(("models", "tables", "all rows hold"), rows)
    return "\n".join([INTRODUCTION, table(HEAD, lines), "", together])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400, help="tables a case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, help="file of results; default by the engine's code, in build/")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "calibration.md")
    parser.add_argument("--only", help="only cases whose name holds this text")
    parser.add_argument("--no-page", action="store_true", help="print the section, write no page")
    options = parser.parse_args()
    store = Store(options.store or ROOT / "build" / "calibration" / f"{engine_version()}-answers.jsonl")
    start = time.perf_counter()
    asked = [job for job in jobs(options.tables) if options.only is None or options.only in job.key]
    store.run(asked, processes=options.jobs)
    text = section(store)
    if not options.no_page:
        page = options.page.read_text(encoding="utf-8") if options.page.exists() else ""
        options.page.write_text(replace_section(page, TITLE, text), encoding="utf-8")
    print(f"## {TITLE}\n\n{text}")
    print(f"{time.perf_counter() - start:.0f} s; results in {store.path}")


if __name__ == "__main__":
    import calibrate_answers  # workers import what they run, and a program has no name to import it by

    calibrate_answers.main()
