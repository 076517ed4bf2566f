"""Cost of commands: CPU and memory by size as exponents, promised times, and another revision in comparison.

CPU is that of the process and of all it started, start-up, reading and printing included: ``make bench``.
An exponent of 1 means that twice the size takes twice as long, once what an almost empty table takes is off.
``--vs REV`` runs jobs of that revision and of this tree in turns and says the median of the ratios:
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
    """Samples n, models k, resamples B, metrics m of a long table, and tasks T of unequal sizes."""

    n: int
    k: int = 2
    B: int = 0
    m: int = 1
    T: int = 1

    def write(self, folder: Path) -> str:
        """Correlated normal scores in which the models improve step by step."""
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
            # Tasks grow by a tenth of the mean one from each to the next few, and sum to n.
            borders = np.cumsum(1 + np.arange(self.T) % 10 / 10)
            columns["task"] = np.searchsorted(borders / borders[-1] * self.n, columns["sample"], side="right")
        names = [pl.format(f"{name}-{{}}", name).alias(name) for name in columns]
        pl.DataFrame(columns | {"score": scores.ravel()}).with_columns(names).write_parquet(path)
        return str(path)


# What is read only, and what is resampled: both long beside an almost empty table.
READ, RESAMPLED, SMALLEST = Sizes(200_000, 4, m=2), Sizes(20_000, 4, 400, 2), Sizes(20, 2, 20, 1)
FEW = ["--resamples", "B"]
# Of each command: what else it is asked, the base and the sizes it grows with.
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
# Jobs that no round may slow: the table of the paper, a large suite, an evaluation's plan, and a small table.
PAIRED = {
    "rank, 12 x 5,000 x 8": (PAPER, ["rank"]),
    "rank, 20 models on 60 unequal tasks": (TASKS, ["rank", "--task", "task"]),
    "rank, 2 x 200": (Sizes(200), ["rank"]),
    "gate, 2 x 200": (Sizes(200), ["gate", "--better", "model-1:model-0"]),
}

# Name, table, words, CPU seconds and gigabytes that were promised.
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
    """Words of a command on a table of these sizes."""
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
    """A row a command: the exponent of each size, CPU and memory of the base and of the largest tables."""
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
    """CPU and memory against what was promised."""
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
    """The files of a revision, in a folder that goes away."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def last_tag() -> str:
    """The last tag, or the commit before this one where there is none."""
    git = ["git", "-C", str(ROOT), "describe", "--tags", "--abbrev=0", "HEAD^"]
    result = subprocess.run(git, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "HEAD^"


def print_paired(revision: str, folder: Path, runs: int) -> bool:
    """Jobs of this tree and of a revision in turns; whether none takes a tenth longer here."""
    print(f"\n{f'CPU s, median of {runs} pairs':40}{'here':>8}{revision[:12]:>14}{'ratio':>7}   of each pair")
    steady = True
    with tree_of(revision) as there:
        for label, (sizes, words) in PAIRED.items():
            words = call(words, sizes, folder)
            # What is compiled is kept: a first run of each is not counted.
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
    # Whoever ends it leaves no tree behind.
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
