"""Kill riskrank at random moments and count what that leaves behind.

Every trial starts a real command with two or three worker processes, lets one signal or two fall at a
random moment, and looks at how and when the run ends and at what is left: processes of its session, shared
memory and semaphores, temporary files, and its output, which must be the old one or the new one whole.

    python tests/fuzz/kill_trials.py --trials 200 --seed 0
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("worker", "interrupt", "twice", "terminate", "hang up", "kill")
SIGNALS = {"terminate": signal.SIGTERM, "hang up": signal.SIGHUP, "kill": signal.SIGKILL}
BEFORE = '{"before": true}'
COMMANDS = {
    "rank": ["rank", "SCORES", "--resamples", "20000"],
    "power": ["power", "normal:0.3,1", "normal:0,1", "--sizes", "100,200", "--simulations", "60"],
    "gsd": ["gsd", "SCORES", "--higher", "*", "--models", "m0,m2,m5", "--resamples", "40"],
    # Over in a second: signals fall while it writes.
    "short": ["rank", "SCORES", "--no-test"],
}


@dataclass
class Outcome:
    """What one trial found; ``faults`` is empty if all is well."""

    kind: str
    command: str
    after: float
    status: int | None = None
    took: float = 0.0
    missed: bool = False
    faults: list[str] = field(default_factory=list)


def session_of(pid: int) -> Iterator[int]:
    """Every living process of the session a process leads, itself included."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = entry.read_text().rpartition(")")[2].split()[:4]
            if int(session) == pid and state not in "ZX":
                yield int(entry.parent.name)


def children(pid: int) -> list[int]:
    """Workers of a process."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.parent.name))
    return found


def shared_memory(pid: int) -> set[Path]:
    """Semaphores and other shared memory that processes of a session map."""
    found: set[Path] = set()
    for member in session_of(pid):
        with suppress(OSError):
            lines = Path(f"/proc/{member}/maps").read_text().splitlines()
            found |= {Path(line.split()[5]) for line in lines if " /dev/shm/" in line}
    return found


def strike(process: subprocess.Popen[bytes], kind: str, chance: random.Random) -> bool:
    """Let the signals of a trial fall; returns False if there was nothing left to hit."""
    if process.poll() is not None:
        return False
    try:
        if kind == "worker":
            os.kill(chance.choice(children(process.pid)), signal.SIGKILL)
        elif kind in ("interrupt", "twice"):
            # As a terminal does: everyone in the foreground process group hears it.
            os.killpg(process.pid, signal.SIGINT)
            if kind == "twice":
                time.sleep(chance.uniform(0, 0.05))
                os.killpg(process.pid, signal.SIGINT)
        else:
            os.kill(process.pid, SIGNALS[kind])
    except (ProcessLookupError, IndexError):
        return False
    return True


def trial(kind: str, command: str, after: float, scores: Path, patience: float, seed: int) -> Outcome:
    """Run one command, strike, and look."""
    chance = random.Random(seed)
    outcome = Outcome(kind, command, after)
    with tempfile.TemporaryDirectory() as place:
        folder, temporary, said = Path(place, "out"), Path(place, "tmp"), Path(place, "stderr")
        folder.mkdir()
        temporary.mkdir()
        target = folder / "r.json"
        target.write_text(BEFORE)
        words = [str(scores) if word == "SCORES" else word for word in COMMANDS[command]]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "riskrank",
                *words,
                "--jobs",
                str(chance.choice((2, 3))),
                "-o",
                str(target),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said.open("wb"),
            cwd=place,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
            start_new_session=True,
        )
        try:
            if kind == "worker":  # from the moment there is one
                until = time.monotonic() + 60
                while not children(process.pid) and process.poll() is None and time.monotonic() < until:
                    time.sleep(0.001)
                after *= 0.3
            time.sleep(after * (0.4 if command == "short" else 1))
            shared = shared_memory(process.pid)
            hit = strike(process, kind, chance)
            start = time.monotonic()
            # A worker that had nothing left to do is missed by nobody: then the run takes its time.
            longest = 60.0 if kind == "worker" else patience
            try:
                process.wait(longest)
            except subprocess.TimeoutExpired:
                outcome.faults.append("hang")
                outcome.took = longest
                return outcome
            outcome.took = time.monotonic() - start
            outcome.status = process.returncode
            outcome.faults += ["late"] * (outcome.status != 0 and outcome.took > patience)
            outcome.missed = not hit
            outcome.faults += wrong_end(outcome, said.read_text(), target)
            until = time.monotonic() + patience
            while (left := list(session_of(process.pid))) and time.monotonic() < until:
                time.sleep(0.02)
            outcome.faults += ["orphan"] * bool(left)
            outcome.faults += ["shared memory"] * any(name.exists() for name in shared)
            outcome.faults += ["temporary file"] * bool(list(temporary.iterdir()))
            outcome.faults += ["half-written file"] * (list(folder.iterdir()) != [target])
        finally:
            for pid in list(session_of(process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
    return outcome


def wrong_end(outcome: Outcome, errors: str, target: Path) -> list[str]:
    """What is wrong with the exit status, the lines on stderr or the output."""
    faults = []
    content = target.read_text()
    written = content != BEFORE
    if written:
        try:
            json.loads(content)
        except ValueError:
            faults.append("half-written file")
    allowed = {0}  # the signal came after the work was done
    if outcome.kind == "worker":
        allowed |= {3}
    elif outcome.kind in ("interrupt", "twice"):
        allowed |= {130}
    else:
        allowed |= {-SIGNALS[outcome.kind]}
    # That it takes long is said before, on a busy machine.
    lines = [line for line in errors.splitlines() if not re.match("note: .* takes about ", line)]
    if "Traceback" in errors or "Exception ignored" in errors or "Fatal Python error" in errors:
        # Until its first function runs riskrank can answer nothing: Python itself does.
        begun = any("riskrank/" in line and not line.endswith("<module>") for line in lines)
        faults.append("traceback" if begun else "before the first line")
    elif outcome.status not in allowed:
        faults.append(f"exit {outcome.status}")
    elif outcome.status == 3:
        faults += ["lines"] * ([line.split(":")[0] for line in lines] != ["error", "found", "hint"])
    elif outcome.status == 130:
        faults += ["lines"] * (lines != ["interrupted: nothing was written"] or written)
    if outcome.status == 0 and not written:
        faults.append("no result")
    return faults


def write_scores(path: Path, models: int = 6, samples: int = 150) -> None:
    """Write a small table for the runs to work on."""
    chance = random.Random(0)
    lines = ["model,sample,metric,score"]
    lines += [
        f"m{model},s{sample},{metric},{chance.gauss(model / 10, 1):.3f}"
        for model in range(models)
        for sample in range(samples)
        for metric in ("a", "b")
    ]
    path.write_text("\n".join(lines) + "\n")


def main() -> int:
    """Run the trials and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS), help="which signals, by name")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--latest", type=float, default=4.0, help="latest moment of a signal, in seconds")
    parser.add_argument(
        "--patience", type=float, default=5.0, help="seconds a run has to end, clean-up included"
    )
    options = parser.parse_args()
    kinds, commands = options.kinds.split(","), options.commands.split(",")
    chance = random.Random(options.seed)
    outcomes = []
    # A shell starts what runs in the background deaf to these, and nohup too; what it starts inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as place:
        scores = Path(place, "scores.csv")
        write_scores(scores)
        for number in range(options.trials):
            kind, command = kinds[number % len(kinds)], chance.choice(commands)
            outcome = trial(
                kind,
                command,
                chance.uniform(0.05, options.latest),
                scores,
                options.patience,
                options.seed + number,
            )
            outcomes.append(outcome)
            if outcome.faults:
                print(f"{number}: {command}, {kind} after {outcome.after:.3f} s: {', '.join(outcome.faults)}")
    print(f"\n{'signal':<12}{'trials':>8}{'missed':>8}{'longest':>9}  exits, faults")
    for kind in kinds:
        of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        exits = Counter(outcome.status for outcome in of_kind)
        faults = Counter(fault for outcome in of_kind for fault in outcome.faults)
        longest = max((outcome.took for outcome in of_kind), default=0.0)
        told = ", ".join(f"{status}: {count}" for status, count in exits.items())
        told += "".join(f"; {count} {fault}" for fault, count in faults.items())
        print(f"{kind:<12}{len(of_kind):>8}{sum(o.missed for o in of_kind):>8}{longest:>8.2f}s  {told}")
    bad = [fault for outcome in outcomes for fault in outcome.faults if fault != "before the first line"]
    print(f"{len(bad)} faults in {len(outcomes)} trials")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
