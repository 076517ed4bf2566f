"""The promised speeds of portfolio, dominance and rank, and deepsig beside one pair: ``make bench``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent))

from measure import measure, riskrank

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.dominance.column import study_dominance
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import ClusteredScores


def write_table(path: Path, *, models: int, samples: int, metrics: int) -> None:
    """Write a long table of correlated normal scores in which the models improve step by step."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(models, samples, metrics)) + 0.5 * rng.normal(size=(1, samples, 1))
    scores += np.linspace(0, 0.5, models)[:, None, None]
    model, sample, metric = (axis.ravel() for axis in np.indices(scores.shape))
    pl.DataFrame({"model": model, "sample": sample, "metric": metric, "score": scores.ravel()}).select(
        pl.format("model-{}", "model").alias("model"),
        pl.format("sample-{}", "sample").alias("sample"),
        pl.format("metric-{}", "metric").alias("metric"),
        "score",
    ).write_parquet(path)


def write_leaderboard(path: Path, *, models: int, objectives: int) -> None:
    """Write a wide table of one row a model, its objectives uniform."""
    values = np.random.default_rng(0).random((objectives, models))
    columns = {f"objective-{j}": column for j, column in enumerate(values)}
    names = [f"model-{i:04d}" for i in range(models)]
    pl.DataFrame({"model": names} | columns).write_parquet(path)


def print_commands(folder: Path, runs: int) -> None:
    """Time whole processes against what was promised."""
    paper, large = folder / "paper.parquet", folder / "large.parquet"
    write_table(paper, models=12, samples=5000, metrics=8)
    write_table(large, models=5, samples=200_000, metrics=6)
    many = folder / "many.parquet"
    write_table(many, models=1000, samples=500, metrics=1)
    leaderboard = folder / "leaderboard.parquet"
    write_leaderboard(leaderboard, models=2148, objectives=7)
    copa = ["--wide", "--higher", ",".join(f"objective-{j}" for j in range(7)), "--sweep", "objective-0"]
    samples = Path(__file__).parents[2] / "sample_data"
    uci = [str(samples / "uci.csv"), "--metrics-file", str(samples / "uci.toml")]
    out = str(folder / "out.parquet")
    rows = [
        ("--help (promised: CPU)", ["--help"], 0.15, 0.1),
        ("rank, 12 x 5,000 x 8, B = 1000", ["rank", str(paper)], 5, 1),
        ("the same, --jobs 1", ["rank", str(paper), "--jobs", "1"], None, None),
        ("P(IC), 12 x 5,000 x 8", ["portfolio", str(paper), "-o", out], 1, 1),
        ("P(EC), 12 x 5,000 x 8", ["portfolio", str(paper), "--copula", "empirical", "-o", out], 10, 1),
        ("rank --all-methods, 12 x 5,000 x 8", ["rank", str(paper), "--all-methods"], 30, None),
        ("rank --variance clt, 12 x 5,000 x 8", ["rank", str(paper), "--variance", "clt"], None, None),
        ("mrm, all risks, 12 x 5,000 x 8", ["mrm", str(paper)], 3, None),
        ("mrm --no-test, 1,000 x 500", ["mrm", str(many), "--no-test"], 10, 1),
        ("rank --no-test, 1,000 x 500", ["rank", str(many), "--no-test"], None, None),
        ("copa --sweep, 2,148 x 7", ["copa", str(leaderboard), *copa], 2, None),
        ("gsd, UCI study, 1,000 swaps", ["gsd", *uci, "--delta", "0.00001"], 20, None),
        (
            "gsd, UCI study, 10,000 swaps",
            ["gsd", *uci, "--delta", "0.00001", "--resamples", "10000"],
            60,
            None,
        ),
        ("rank, 5 x 200,000 x 6, B = 200", ["rank", str(large), "--resamples", "200"], None, 4),
    ]
    print(f"{'whole process':38}{'seconds':>9}{'promised':>10}{'ratio':>7}{'peak GB':>9}{'promised':>10}")
    for label, arguments, seconds, gigabytes in rows:
        found = measure(riskrank(*arguments), runs=runs)
        ratio = f"{found.seconds / seconds:.2f}" if seconds else "-"
        print(
            f"{label:38}{found.seconds:9.2f}{seconds or '-':>10}{ratio:>7}"
            f"{found.memory / 1e9:9.2f}{gigabytes or '-':>10}",
            flush=True,
        )


def print_pair(resamples: int) -> None:
    """One bootstrapped pair, n = 5,000: this engine beside deepsig's almost stochastic order."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.1, 1, size=5000), rng.normal(0, 1, size=5000)
    scores = ClusteredScores.build([a, b], paired=False)
    start = time.perf_counter()
    claims = [Claim(1, "absolute", 0.25), Claim(2, "absolute", 0.25)]
    study_dominance(scores, claims, Inference(resamples=resamples), pairs=[(0, 1)])
    ours = time.perf_counter() - start
    print(f"\none pair, n = 5,000, B = {resamples}, one process")
    print(f"{'riskrank, exact integrals, both orders':42}{ours:8.2f} s")
    if importlib.util.find_spec("deepsig") is None:
        print("deepsig is absent: install the bench group to compare")
        return
    from deepsig import aso

    start = time.perf_counter()
    aso(a, b, num_bootstrap_iterations=resamples, num_jobs=1, show_progress=False, seed=0)
    theirs = time.perf_counter() - start
    print(f"{'deepsig.aso, order 1 on a grid':42}{theirs:8.2f} s{theirs / ours:8.1f} times ours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each command; the fastest is printed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_commands(Path(folder), options.runs)
    print_pair(1000)


if __name__ == "__main__":
    main()
