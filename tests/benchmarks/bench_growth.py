"""How CPU time grows with samples n, models k, metrics m, resamples B and tasks T: exponents of doublings.

An exponent of 1 means twice the size takes twice as long. Fixed costs are taken off first, as measured on
the smallest table of all.
"""

from __future__ import annotations

import time

import numpy as np

import riskrank as rr

BASE = {"n": 10_000, "k": 4, "m": 2, "B": 100, "T": 1}
# Tasks are of unequal sizes, and together of the same samples as without them.
SUITE = BASE | {"T": 4}
FACTORS = (1, 2, 4, 8)
COMMANDS = {
    "check": lambda scores, _: rr.check(scores),
    "rank --no-test": lambda scores, _: rr.rank(scores, no_test=True, jobs=1),
    "rank": lambda scores, sizes: rr.rank(scores, resamples=sizes["B"], jobs=1),
    "mrm": lambda scores, sizes: rr.mrm(scores, resamples=sizes["B"], jobs=1),
}


def table(sizes: dict[str, int]) -> dict[str, list]:
    """A long table of these sizes."""
    n, k, m, tasks = sizes["n"], sizes["k"], sizes["m"], sizes.get("T", 1)
    rng = np.random.default_rng(0)
    ends = n * np.cumsum(np.arange(1, tasks + 1)) / (tasks * (tasks + 1) / 2)
    of_sample = np.searchsorted(ends, np.arange(n), side="right").clip(max=tasks - 1)
    named = {"task": np.tile(np.repeat(of_sample, m), k).astype(str).tolist()} if tasks > 1 else {}
    return named | {
        "model": np.repeat([f"model {i}" for i in range(k)], n * m).tolist(),
        "sample": np.tile(np.repeat(np.arange(n), m), k).tolist(),
        "metric": np.tile([f"metric {j}" for j in range(m)], n * k).tolist(),
        "score": rng.normal(size=n * k * m).tolist(),
    }


def seconds(command, sizes: dict[str, int]) -> float:
    """CPU time of a command, the least of three runs."""
    scores, spent = table(sizes), []
    for _ in range(3):
        start = time.process_time()
        COMMANDS[command](scores, sizes)
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    print(f"CPU time grows with size^exponent, from {BASE}, sizes times {FACTORS}")
    for command in COMMANDS:
        least = seconds(command, {"n": 20, "k": 2, "m": 1, "B": 20})
        shown = []
        for name in BASE:
            if name == "B" and command in ("check", "rank --no-test"):
                continue
            base = SUITE if name == "T" else BASE
            sizes = [base | {name: base[name] * factor} for factor in FACTORS]
            spent = [max(seconds(command, one) - least, 1e-4) for one in sizes]
            slope = np.polyfit(np.log(FACTORS), np.log(spent), 1)[0]
            shown.append(f"{name} {slope:.2f} ({spent[0]:.2f} to {spent[-1]:.2f} s)")
        print(f"{command:16}" + ", ".join(shown), flush=True)


if __name__ == "__main__":
    main()
