"""What a run says it will take, beside what it took: every note there is, however short the work.

A forecast is right within a factor of two; of less than three seconds there is none: ``make bench``.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_commands import UCI, Sizes, call
from measure import ROOT

# The command in a process that tells every forecast in seconds, what each kind of work took, and its CPU.
TELLING = """
import contextlib, os, sys, time

from riskrank.cli import forecast, main, session

watched, forecast._LONG, forecast.spelled = session.watched, 0, "{:.1f} s".format

@contextlib.contextmanager
def telling(label, say):
    begun = time.monotonic()
    with watched(label, say) as move:
        yield move
    say(f"note: {label} took {time.monotonic() - begun:.1f} s")

session.watched = telling
try:
    main.run()
finally:
    print(f"CPU {sum(os.times()[:4]):.1f}", file=sys.stderr)
"""

SEVEN, LARGE, TASKS = Sizes(300, 7), Sizes(5000, 7), Sizes(5000, 7, T=20)
COINS = [f"bernoulli:{0.9 - 0.03 * i:.2f}" for i in range(7)]
ERRORS = ["power", str(ROOT / "sample_data/diamonds.parquet"), "--metric", "error_usd"]
PAIR = "boosting_squared:linear_splines"
JUDGED = [str(ROOT / "sample_data/judge.csv"), "--wide", "--human", "people", "--judge", "judge"]
FORESEEN = [
    (None, ERRORS),
    (None, [*ERRORS, "--pair", PAIR]),
    (None, [*ERRORS, "--variance", "clt", "--simulations", "1000"]),
    (None, [*ERRORS, "--threshold", "0.25", "--simulations", "200"]),
    (None, ["power", "normal:0.5,2", "normal:0,1", "--simulations", "1000"]),
    (None, ["power", *COINS]),
    (None, ["power", *JUDGED, "--higher", "people,judge", "--pair", "tuned:wordy"]),
    (SEVEN, ["power", "--simulations", "400"]),
    (LARGE, ["power"]),
    (Sizes(20_000), ["power", "--sizes", "20000"]),
    (TASKS, ["power", "--task", "none", "--cluster", "task"]),
    (TASKS, ["power", "--task", "task"]),
    (TASKS, ["power", "--task", "task", "--tasks", "random"]),
    (Sizes(2000, 20), ["power"]),
    (None, ["gsd", *UCI, "--delta", "0.00001"]),
    (Sizes(25, 20, m=3), ["gsd", "--resamples", "400"]),
    (Sizes(5000, 12, m=8), ["mrm"]),
    (LARGE, ["dominance"]),
]


def main() -> int:
    right = True
    print(f"{'CPU s':>7}{'wall s':>8}   said and took, s")
    with tempfile.TemporaryDirectory() as folder:
        for sizes, words in FORESEEN:
            asked = [word for word in call(words, sizes, Path(folder)) if word != "--quiet"]
            begun = time.monotonic()
            run = [sys.executable, "-P", "-c", TELLING, *asked]
            told = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stderr
            # Of what was said twice the last.
            said = dict(re.findall(r"^note: (.*) takes about ([\d.]+) s:", told, re.MULTILINE))
            took = dict(re.findall(r"^note: (.*) took ([\d.]+) s$", told, re.MULTILINE))
            ratios = [float(said[label]) / float(took[label]) for label in said]
            right &= all(0.5 < ratio < 2 for ratio in ratios)
            parts = ", ".join(f"{label} {said.get(label, '-')} {took[label]}" for label in took)
            cpu = float(told.split()[-1])
            print(f"{cpu:7.1f}{time.monotonic() - begun:8.1f}   {parts}   {' '.join(words)}", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
