"""Simulate gates: how often equal models fail or pass, and a true loss of twice the margin passes.

Run by ``make calibrate``. Each table has two models with a known difference, and a family of claims that one
is not worse than the other. Results are kept in a file as they come, and an interrupted run goes on where it
stopped; at the end the section "Gates" of docs/calibration.md is written, and no other.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from calibration_page import MISSED, OK, TOO_FEW, replace_section, share, shown, table
from calibration_store import ROOT, Job, Store, engine_version
from gate_simulation import CASES, Case, gate_rows

LEAST_TABLES = 400
HEAD = ("models", "n", "tables", "claim shown", "claim refuted", "intervals hold", "promise")

TITLE = "Gates"
INTRODUCTION = """Share of tables in which `riskrank gate` shows a claim, or refutes one, at level 0.05; of 20
claims, any of them. Without a margin the claim is that the new model is not worse, and equal models are at
its boundary: a refuted claim is a false failure of `--not-worse`, a shown one a false pass of `--not-worse`
and of `--better` alike, which are then the same claim. With a margin, a true loss of the margin or of twice
the margin must not pass. Shares in bold are promised to be at most 0.05, of lognormal losses 0.08, one
Monte-Carlo error on top. Next to them is the share of tables in which all true differences lie in their
intervals; dominance has none. n is the number of samples, of groups that of the usual one.
"""


def jobs(tables: int) -> list[Job]:
    return [
        Job(
            "gates",
            case.key(n),
            gate_rows,
            (number, n),
            tables,
            20,
        )
        for number, case in enumerate(CASES)
        for n in case.sizes
    ]


def section(store: Store) -> str:
    """The text, with what was kept and what was missed."""
    rows, missed, judged = [], [], 0
    for case in CASES:
        for n in case.sizes:
            outcomes = store.outcomes("gates", case.key(n))
            if not len(outcomes):
                continue
            verdict = TOO_FEW
            if len(outcomes) >= LEAST_TABLES:
                judged += 1
                kept = all(_kept(outcomes[:, column], case.promised) for column in _promised(case))
                verdict = OK if kept else f"**{MISSED}**"
                if not kept:
                    missed.append(case.key(n))
            rows.append([case.name, str(n), f"{len(outcomes):,}", *_cells(case, outcomes), verdict])
    summary = f"**{judged - len(missed)} cases kept, {len(missed)} missed.**"
    return "\n".join([INTRODUCTION, summary, "", table(HEAD, rows)])


def _promised(case: Case) -> tuple[int, ...]:
    """Columns that are errors: what is shown beyond the boundary, and what is refuted on it."""
    return (0, 1) if case.truth == -case.margin else (0,)


def _kept(outcomes: np.ndarray, promised: float) -> bool:
    rate, error = share(outcomes)
    return rate <= promised + error


def _cells(case: Case, outcomes: np.ndarray) -> list[str]:
    cells = [shown(share(column)) for column in outcomes.T]
    for column in _promised(case):
        cells[column] = f"**{cells[column]}**"
    return [*cells[:2], "–" if case.order else cells[2]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400, help="tables a case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, help="file of results; default by the engine's code, in build/")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "calibration.md")
    options = parser.parse_args()
    store = Store(options.store or ROOT / "build" / "calibration" / f"{engine_version()}-gates.jsonl")
    start = time.perf_counter()
    store.run(jobs(options.tables), processes=options.jobs, pause=options.tables)
    text = section(store)
    page = options.page.read_text(encoding="utf-8") if options.page.exists() else ""
    options.page.write_text(replace_section(page, TITLE, text), encoding="utf-8")
    print(f"## {TITLE}\n\n{text}")
    print(f"{time.perf_counter() - start:.0f} s; results in {store.path}")


if __name__ == "__main__":
    import calibrate_gates  # workers import what they run, and a program has no name to import it by

    calibrate_gates.main()
