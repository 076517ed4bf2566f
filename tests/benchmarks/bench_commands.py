"""Benchmark commands: growth exponents of CPU time and memory, promised times, and comparison of revisions.

CPU time includes all child processes, start-up, reading and printing: ``make bench``. An exponent of 1 means
that the time doubles with the size, after subtracting the time for an almost empty table. ``--vs REV`` runs
jobs of that revision and of the working tree alternately, and prints the median of the time ratios:
``make bench VS=REV``.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent))

from measure import ROOT, Measurement, measure

UCI = [str(ROOT / "sample_data/uci.csv"), "--metrics-file", str(ROOT / "sample_data/uci.toml")]


@dataclass(frozen=True)
class Sizes:
    """Samples n, models k, resamples B, metrics m of a long table, and number T of unequal tasks."""

    n: int
    k: int = 2
    B: int = 0
    m: int = 1
    T: int = 1

    def write(self, folder: Path) -> str:
        """Write correlated normal scores; each model is better than the previous one."""
        path = folder / f"{self.n}-{self.k}-{self.m}-{self.T}.parquet"
        if path.exists():
            return str(path)
        rng = np.random.default_rng(0)
        scores = rng.normal(size=(self.k, self.n, self.m)) + 0.5 * rng.normal(size=(1, self.n, 1))
        scores += np.linspace(0, 0.5, self.k)[:, None, None]
        columns = dict(
            zip(("model", "sample", "metric"), map(np.ravel, np.indices(scores.shape)), strict=True)
        )
        if self.T > 1:
            # Task sizes increase in steps of a tenth of their mean, and sum to n.
            borders = np.cumsum(1 + np.arange(self.T) % 10 / 10)
            columns["task"] = np.searchsorted(borders / borders[-1] * self.n, columns["sample"], side="right")
        names = [pl.format(f"{name}-{{}}", name).alias(name) for name in columns]
        pl.DataFrame(columns | {"score": scores.ravel()}).with_columns(names).write_parquet(path)
        return str(path)


# Sizes of tables that are only read, and of those that are resampled.
READ, RESAMPLED, SMALLEST = Sizes(200_000, 4, m=2), Sizes(20_000, 4, 400, 2), Sizes(20, 2, 20, 1)
FEW = ["--resamples", "B"]
# Further options of each command, its base sizes, and the sizes that are increased.
GROWING = {
    "check": ([], READ, "nkm"),
    "rank --no-test": ([], READ, "nkm"),
    "portfolio": (["-o", "OUT"], READ, "nkm"),
    "rank": (FEW, RESAMPLED, "nkBm"),
    "mrm": (FEW, RESAMPLED, "nkBm"),
    "dominance": (FEW, RESAMPLED, "nkBm"),
}
FACTORS = (1, 2, 4)

PAPER, TASKS = Sizes(5000, 12, m=8), Sizes(60 * 200, 20, T=60)
# Jobs that must not become slower: the table of the paper, a large suite, a power plan, and a small table.
PAIRED = {
    "rank, 12 x 5,000 x 8": (PAPER, ["rank"]),
    "rank, 20 models on 60 unequal tasks": (TASKS, ["rank", "--task", "task"]),
    "rank, 2 x 200": (Sizes(200), ["rank"]),
    "gate, 2 x 200": (Sizes(200), ["gate", "--better", "model-1:model-0"]),
}

# Name, table, words, and promised CPU seconds and gigabytes.
PROMISED = [
    ("--help", None, ["--help"], 0.15, 0.1),
    ("rank, 12 x 5,000 x 8", PAPER, ["rank"], 14, 1),
    ("P(IC), 12 x 5,000 x 8", PAPER, ["portfolio", "-o", "OUT"], 2, 1),
    ("P(EC), 12 x 5,000 x 8", PAPER, ["portfolio", "--copula", "empirical", "-o", "OUT"], 10, 1),
    ("rank --all-methods, 12 x 5,000 x 8", PAPER, ["rank", "--all-methods"], 60, None),
    ("dominance --variance clt, 12 x 5,000 x 8", PAPER, ["dominance", "--variance", "clt"], None, None),
    ("mrm, all risks, 12 x 5,000 x 8", PAPER, ["mrm"], 6, None),
    ("mrm --no-test, 1,000 x 500", Sizes(500, 1000), ["mrm", "--no-test"], 10, 1),
    ("rank --no-test, 1,000 x 500", Sizes(500, 1000), ["rank", "--no-test"], None, None),
    ("rank, 5 x 200,000 x 6, B = 200", Sizes(200_000, 5, m=6), ["rank", "--resamples", "200"], None, 4),
    ("gsd, UCI study, 1,000 swaps", None, ["gsd", *UCI, "--delta", "0.00001"], 20, None),
]


def call(words: list[str], sizes: Sizes | None, folder: Path) -> list[str]:
    """Return the command-line words that run a command on a table of these sizes."""
    command, *arguments = words
    table = [] if sizes is None else [sizes.write(folder)]
    placeholders = {"B": str(sizes.B) if sizes else "", "OUT": str(folder / "out.parquet")}
    quiet = [] if command == "--help" else ["--quiet"]
    return [
        command,
        *table,
        *(placeholders.get(word, word) for word in arguments),
        *quiet,
        *directions(sizes),
    ]


def directions(sizes: Sizes | None) -> list[str]:
    return [] if sizes is None else ["--higher", ",".join(f"metric-{j}" for j in range(sizes.m))]


def print_growth(folder: Path, runs: int) -> None:
    """Print one row per command: growth exponents, and CPU time and memory of base and largest sizes."""
    print(f"CPU grows with size^exponent, sizes of the base × {FACTORS}")
    heads = "".join(f"{name:>9}" for name in ("base s", "most s", "base MB", "most MB"))
    print(f"{'command':16}{'base n × k × B × m':>24}{'n':>7}{'k':>7}{'B':>7}{'m':>7}{heads}")
    for command, (extra, base, of) in GROWING.items():
        words = [*command.split(), *extra]

        def spent_on(sizes: Sizes, words: list[str] = words) -> Measurement:
            return measure(call(words, sizes, folder), runs=runs)

        least, first = spent_on(SMALLEST).cpu, spent_on(base)
        larger = {
            name: [spent_on(replace(base, **{name: getattr(base, name) * factor})) for factor in FACTORS[1:]]
            for name in of
        }
        cells = []
        for name in "nkBm":
            spent = [measurement.cpu - least for measurement in (first, *larger.get(name, ()))]
            slope = f"{np.polyfit(np.log(FACTORS), np.log(spent), 1)[0]:.2f}" if spent[1:] else ""
            cells.append(f"{slope:>7}")
        every = [measurement for row in larger.values() for measurement in row]
        sizes = f"{base.n:,} × {base.k} × {base.B or '-'} × {base.m}"
        print(
            f"{command:16}{sizes:>24}{''.join(cells)}{first.cpu:9.2f}{max(spent.cpu for spent in every):9.2f}"
            f"{first.memory / 1e6:9.0f}{max(spent.memory for spent in every) / 1e6:9.0f}",
            flush=True,
        )


def print_promised(folder: Path, runs: int) -> None:
    """Print CPU time and memory next to the promised values."""
    print(f"\n{'whole process':38}{'CPU s':>9}{'promised':>10}{'peak GB':>9}{'promised':>10}")
    for label, sizes, words, seconds, gigabytes in PROMISED:
        measured = measure(call(words, sizes, folder), runs=runs)
        print(
            f"{label:38}{measured.cpu:9.2f}{seconds or '-':>10}"
            f"{measured.memory / 1e9:9.2f}{gigabytes or '-':>10}",
            flush=True,
        )


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """Check out the files of a revision into a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def last_tag() -> str:
    """Return the last tag, or the previous commit if there is no tag."""
    git = ["git", "-C", str(ROOT), "describe", "--tags", "--abbrev=0", "HEAD^"]
    result = subprocess.run(git, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "HEAD^"


def print_paired(revision: str, folder: Path, runs: int) -> bool:
    """Compare jobs of this tree and of a revision; return whether no job is more than 10 % slower here."""
    print(f"\n{f'CPU s, median of {runs} pairs':40}{'here':>8}{revision[:12]:>14}{'ratio':>7}   of each pair")
    steady = True
    with tree_of(revision) as there:
        for label, (sizes, words) in PAIRED.items():
            words = call(words, sizes, folder)
            # The first run of each tree compiles its modules, so it is not counted.
            [measure(words, runs=1, tree=tree) for tree in (there, ROOT)]
            pairs = np.array(
                [[measure(words, runs=1, tree=tree).cpu for tree in (there, ROOT)] for _ in range(runs)]
            )
            ratios = pairs[:, 1] / pairs[:, 0]
            before, here = np.median(pairs, axis=0)
            steady &= bool(np.median(ratios) < 1.1)
            listing = " ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"{label:40}{here:8.2f}{before:14.2f}{np.median(ratios):7.2f}   {listing}", flush=True)
    return steady


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each command; the one of least CPU counts"
    )
    parser.add_argument("--pairs", type=int, default=5, help="runs of each tree, in turns")
    parser.add_argument(
        "--vs", metavar="REV", help="only beside this revision; exit 1 where a job takes 10 %% more"
    )
    options = parser.parse_args()
    # Remove the temporary tree even if the program is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.vs is not None:
            return 0 if print_paired(options.vs or last_tag(), folder, options.pairs) else 1
        print_growth(folder, options.runs)
        print_promised(folder, options.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
