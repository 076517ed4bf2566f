"""Make year/: forty simulated weeks of one assistant in continuous integration, of which the truth is known.

Nobody scored anything: the scores are drawn, from seed 0. `WEEKS` says what happens in which week,
all others are equal runs.
"""

from pathlib import Path

import numpy as np
import polars as pl

YEAR = Path(__file__).parent / "year"
CASES, FIXED, LAST = 400, 150, 40
# What a week has: the share of cases that are broken, of those whose calls fail, and of those that crash and
# leave no row; by how many grades the judge is more lenient, and the answers are duller.
WEEKS: dict[int, dict[str, float]] = {
    6: {"failed": 0.4},
    18: {"failed": 0.03},
    20: {"broken": 0.25},
    21: {"broken": 0.25},
    23: {"broken": 0.02},
    26: {"absent": 0.2},
    29: {"lenient": 0.6},
    30: {"lenient": 0.6, "dull": 0.6},
    31: {"lenient": 0.6, "dull": 0.6},
    **{week: {"broken": 0.12} for week in range(38, LAST + 1)},
}
# From this week on three cases in ten pass nearly always, whatever they did before; the week is blessed.
RELEASE = 13
# What people would say of it, from a week on.
EVENTS = {
    6: "an outage: 40 % of the calls fail",
    7: "all calls succeed again",
    8: "a case is added",
    9: "a case is removed",
    10: "a case is renamed",
    13: "a release fixes cases; it becomes the baseline",
    14: "compared with the release from here on",
    18: "3 % of the calls time out",
    19: "all calls succeed again",
    20: "a quarter of the cases breaks",
    22: "the cases are fixed",
    23: "2 % of the cases break",
    24: "the cases are fixed",
    26: "20 % of the calls crash and leave no row",
    27: "all calls succeed again",
    29: "a new judge grades leniently",
    30: "the answers become dull, which the new judge hides",
    32: "the old judge and the old answers are back",
    38: "an eighth of the cases breaks",
}


def happened(week: int, what: str) -> float:
    """How much of something happened in a week."""
    return WEEKS.get(week, {}).get(what, 0.0)


def cases(week: int) -> list[str]:
    """Names of the cases of a week: one is added in week 8, one removed in week 9, one renamed in week 10."""
    names = [f"case-{number:03d}" for number in range(CASES)]
    names += ["case-400"] if week >= 8 else []
    names = [name for name in names if week < 9 or name != "case-007"]
    return [name if week < 10 or name != "case-011" else "case-011b" for name in names]


def year_tables(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a row a week and case, and the fixed answers that the judge grades every week."""
    rng = np.random.default_rng(seed)
    # Cases pass at four fifths on average, most of them nearly always or nearly never.
    chance = rng.beta(0.32, 0.08, CASES + 1)
    breaks, mends = rng.random((2, CASES + 1))
    quality, old = rng.normal(3, 0.5, CASES + 1), rng.normal(3, 0.5, FIXED)
    scored, fixed = [], []
    for week in range(LAST + 1):
        now = np.where((mends < 0.3) & (week >= RELEASE), np.maximum(chance, 0.95), chance)
        now = np.where(breaks < happened(week, "broken"), 0.0, now)
        passed = rng.random(CASES + 1) < now
        failed = rng.permutation(CASES + 1) < round(happened(week, "failed") * CASES)
        seconds = np.where(failed, 30.0, np.round(rng.lognormal(0.7, 0.3, CASES + 1), 1))
        lenient = happened(week, "lenient")
        grades = _grades(quality + lenient - happened(week, "dull") + rng.normal(0, 0.3, CASES + 1))
        for name in cases(week):
            at = int(name[5:8])
            if at % 100 < 100 * happened(week, "absent"):
                continue
            says = (None, None) if failed[at] else (int(passed[at]), grades[at])
            scored.append((f"week {week}", "assistant", name, *says, float(seconds[at])))
        again = _grades(old + lenient + rng.normal(0, 0.3, FIXED))
        fixed += [(f"week {week}", "judge", f"old-{at:03d}", grade) for at, grade in enumerate(again)]
    columns = ["week", "model", "sample", "correct", "helpful", "seconds"]
    return (
        pl.DataFrame(scored, schema=columns, orient="row", infer_schema_length=None),
        pl.DataFrame(fixed, schema=["week", "model", "sample", "helpful"], orient="row"),
    )


def _grades(values: np.ndarray) -> list[float]:
    return np.clip(np.round(values, 1), 1, 5).tolist()


if __name__ == "__main__":
    for name, table in zip(("answers", "fixed"), year_tables(0), strict=True):
        table.write_parquet(YEAR / f"{name}.parquet", compression="zstd")
