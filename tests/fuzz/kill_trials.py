"""Kill riskrank at random moments and count what remains afterwards.

Each trial starts a command and sends one or two signals, most often as soon as a file changes, else at a
random moment within the usual duration. It then checks the exit status, and looks for remaining processes,
shared memory, semaphores and temporary files. Outputs must be either the old or the new ones.

    python tests/fuzz/kill_trials.py --trials 300 --seed 0
"""

import argparse
import json
import os
import random
import shutil
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
BEFORE = b"before"


@dataclass(frozen=True)
class Job:
    """Command that writes files, and whether it starts processes."""

    line: str
    parallel: bool = False

    @property
    def words(self) -> list[str]:
        """Return the words of the command, without a shell."""
        return self.line.split()

    @property
    def files(self) -> list[str]:
        """Return the files that the command writes."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return [file for option, file in pairs if option in ("-o", "--plot", "--bless")]


JOBS = {
    "rank": Job("rank s.csv --resamples 20000 -o r.json -o r.html --plot r.svg", True),
    "means only": Job("rank s.csv --no-test -o r.csv"),
    "dominance": Job("dominance s.csv --higher * -o d.json -o d.md", True),
    "mrm": Job("mrm s.csv --higher * -o m.tex", True),
    "gsd": Job("gsd s.csv --higher * --models m0,m2,m5 --resamples 40 -o g.json --plot g.svg", True),
    "power": Job("power normal:0.3,1 normal:0,1 --sizes 100,200 --simulations 60 -o p.json", True),
    "copa": Job("copa s.csv --higher * -o c.json --plot c.png"),
    "portfolio": Job("portfolio s.csv --higher * -o p.parquet -o p.csv"),
    "check": Job("check s.csv -o k.json -o k.txt"),
    "report": Job("report s.csv --higher * -o t.html -o t.json", True),
    "gate": Job("gate s.csv --better m5:m0 -o g.json -o g.md -o g.xml --bless b.parquet", True),
    "bless": Job("gate s.csv --models m5 --bless b.parquet"),
    "look": Job("gate 01.csv --better m5:m0 --anytime --inconclusive pass -o l.json"),
    "look again": Job(
        "gate 01.csv --better m5:m0 --anytime --inconclusive pass --continues k.json -o k.json"
    ),
    "trend": Job("trend s.csv 01.csv --metric a --models m0 -o w.json -o w.md"),
    "diff": Job("diff s.csv --pair m5:m0 -o d.json -o d.html"),
    "votes": Job("convert verdicts votes.csv -o v.parquet -o v.csv"),
    "export": Job("convert lm-eval runs -o e.csv"),
    "schema": Job("schema rank -o s.json"),
    "examples": Job("examples given"),
}


@dataclass
class Outcome:
    """Result of one trial; ``faults`` is empty if all is well."""

    kind: str
    command: str
    after: float
    status: int | None = None
    took: float = 0.0
    missed: bool = False
    writing: bool = False
    faults: list[str] = field(default_factory=list)


def session_of(pid: int) -> Iterator[int]:
    """Return the living processes of a session, including its leader."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = entry.read_text().rpartition(")")[2].split()[:4]
            if int(session) == pid and state not in "ZX":
                yield int(entry.parent.name)


def children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    workers = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
                workers.append(int(entry.parent.name))
    return workers


def shared_memory(pid: int) -> set[Path]:
    """Return the semaphores and shared memory that processes of a session map."""
    paths: set[Path] = set()
    for member in session_of(pid):
        with suppress(OSError):
            lines = Path(f"/proc/{member}/maps").read_text().splitlines()
            paths |= {Path(line.split()[5]) for line in lines if " /dev/shm/" in line}
    return paths


def strike(process: subprocess.Popen[bytes], kind: str, chance: random.Random) -> bool:
    """Send the signals of a trial; return False if the process has already ended."""
    if process.poll() is not None:
        return False
    try:
        if kind == "worker":
            os.kill(chance.choice(children(process.pid)), signal.SIGKILL)
        elif kind in ("interrupt", "twice"):
            # Like a terminal, signal the whole foreground process group.
            os.killpg(process.pid, signal.SIGINT)
            if kind == "twice":
                time.sleep(chance.uniform(0, 0.05))
                os.killpg(process.pid, signal.SIGINT)
        else:
            os.kill(process.pid, SIGNALS[kind])
    except (ProcessLookupError, IndexError):
        return False
    return True


def state(folder: Path) -> dict[str, bytes | None]:
    """Return the files of a folder with their contents, and its subfolders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def changed(folder: Path, before: dict[str, bytes | None], process: subprocess.Popen[bytes]) -> bool:
    """Wait until the file names in a folder change; return False if the process ends first."""
    while process.poll() is None:
        try:
            if {str(path.relative_to(folder)) for path in folder.rglob("*")} != before.keys():
                return True
        except FileNotFoundError:  # it was moved while it was looked at
            return True
    return False


def started(job: Job, folder: Path, place: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Start a command in a folder, with a separate place for temporary files and messages."""
    (place / "tmp").mkdir()
    processes = ["--set", f"jobs={jobs}"] if job.parallel else []
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "riskrank", *job.words, *processes],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(place / "stderr").open("wb"),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(place / "tmp")},
        start_new_session=True,
    )


@dataclass
class Reference:
    """Duration and files of an undisturbed run."""

    seconds: float
    written: dict[str, bytes | None]


def reference(job: Job, inputs: Path) -> Reference:
    """Run a command to completion."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "out")
        shutil.copytree(inputs, folder)
        before, start = state(folder), time.monotonic()
        process = started(job, folder, Path(name), 2)
        assert process.wait(600) == 0, Path(name, "stderr").read_text()
        seconds = time.monotonic() - start
        return Reference(seconds, {k: v for k, v in state(folder).items() if before.get(k, b"no") != v})


def trial(
    kind: str, command: str, undisturbed: Reference, inputs: Path, patience: float, seed: int
) -> Outcome:
    """Run one command, send signals, and check the result."""
    chance, job = random.Random(seed), JOBS[command]
    writing = kind != "worker" and chance.random() < 0.9
    after = chance.uniform(0, 0.003) if writing else undisturbed.seconds * chance.uniform(0.02, 0.9)
    outcome = Outcome(kind, command, after)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder = place / "out"
        shutil.copytree(inputs, folder)
        for file in job.files if chance.random() < 0.7 else ():
            if not (folder / file).exists():
                (folder / file).write_bytes(BEFORE)
        before = state(folder)
        process = started(job, folder, place, chance.choice((2, 3)))
        try:
            if kind == "worker":  # from the moment there is one
                until = time.monotonic() + 60
                while not children(process.pid) and process.poll() is None and time.monotonic() < until:
                    time.sleep(0.001)
                after *= 0.1
            outcome.writing = writing and changed(folder, before, process)
            time.sleep(after)
            shared = shared_memory(process.pid)
            hit = strike(process, kind, chance)
            start = time.monotonic()
            # If the killed worker was idle, the run completes.
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
            outcome.writing &= hit
            until = time.monotonic() + patience
            while (left := list(session_of(process.pid))) and time.monotonic() < until:
                time.sleep(0.02)
            outcome.faults += ["orphan"] * bool(left)
            outcome.faults += ["shared memory"] * any(name.exists() for name in shared)
            outcome.faults += ["temporary file"] * bool(list((place / "tmp").iterdir()))
            complete, faults = written(outcome, state(folder), before, undisturbed.written)
            outcome.faults += faults
            outcome.faults += wrong_end(outcome, (place / "stderr").read_text(), complete)
        finally:
            for pid in list(session_of(process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
    return outcome


def written(outcome, after, before, new) -> tuple[bool, list[str]]:
    """Return whether the outputs exist, and the faults unless all are old or all are new."""
    if outcome.kind == "kill":  # nobody can tidy up, but no file is a half
        after = {name: data for name, data in after.items() if not name.startswith(".")}
        consistent = all(
            data in (before.get(name, data), new.get(name, data)) for name, data in after.items()
        )
        consistent = consistent and before.keys() <= after.keys() <= before.keys() | new.keys()
        return after != before, [] if consistent else ["half-written file"]
    if after in (before, before | new):
        return after == before | new, []
    left = sorted(after.keys() - before.keys() - new.keys())
    return after != before, [f"left {left}" if left else "some of the files"]


def wrong_end(outcome: Outcome, errors: str, written: bool) -> list[str]:
    """Return the faults of the exit status and of the lines on stderr."""
    faults = []
    allowed = {0}  # the signal came after the work was done
    if outcome.kind == "worker":
        allowed |= {3}
    elif outcome.kind in ("interrupt", "twice"):
        allowed |= {130}
    else:
        allowed |= {-SIGNALS[outcome.kind]}
    # On a busy machine, an estimate of the duration precedes the error.
    lines = [line for line in errors.splitlines() if not line.startswith("note: ")]
    if "Traceback" in errors or "Exception ignored" in errors or "Fatal Python error" in errors:
        # Before riskrank's first function runs, Python handles the signal.
        begun = any("riskrank/" in line and not line.endswith("<module>") for line in lines)
        faults.append("traceback" if begun else "before the first line")
    elif outcome.status == -signal.SIGINT and not (written or lines):
        faults.append("before the first line")  # the system ended it, or Python at the second one
    elif outcome.status not in allowed:
        faults.append(f"exit {outcome.status}")
    elif outcome.status == 3:
        faults += ["lines"] * ([line.split(":")[0] for line in lines] != ["error", "found", "hint"])
    elif outcome.status == 130:
        faults += ["lines"] * (lines != ["interrupted: nothing was written"] or written)
    if outcome.status == 0 and not written:
        faults.append("no result")
    return faults


def write_inputs(folder: Path, models: int = 6, samples: int = 150) -> None:
    """Write small files for the runs to work on."""
    chance = random.Random(0)

    def table(name: str, score) -> None:
        lines = [
            f"m{model},s{sample},{metric},{score(model)}"
            for model in range(models)
            for sample in range(samples)
            for metric in ("a", "b")
        ]
        (folder / name).write_text("\n".join(["model,sample,metric,score", *lines]) + "\n")

    table("s.csv", lambda model: f"{chance.gauss(model / 10, 1):.3f}")
    table("01.csv", lambda model: int(chance.random() < 0.5 + model / 20))
    votes = "".join(f"{at},A,B,{'ab'[at % 2]}\n" for at in range(200))
    (folder / "votes.csv").write_text(f"sample,model_a,model_b,verdict\n{votes}")
    runs, stamp = folder / "runs" / "old", "2024-01-01T00-00-00.000000"
    runs.mkdir(parents=True)
    line = {"acc": 1.0, "filter": "none", "metrics": ["acc"]}
    lines = [json.dumps({"doc_id": at} | line) for at in range(3_000)]
    (runs / f"samples_task_{stamp}.jsonl").write_text("\n".join(lines))
    results = {"results": {"task": {"acc,none": 1.0}}, "higher_is_better": {"task": {"acc": True}}}
    (runs / f"results_{stamp}.json").write_text(json.dumps({"model_name": "old"} | results))
    with tempfile.TemporaryDirectory() as name:
        assert started(JOBS["look"], folder, Path(name), 1).wait(60) == 0
    (folder / "l.json").rename(folder / "k.json")


def main() -> int:
    """Run the trials and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS), help="which signals, by name")
    parser.add_argument("--commands", default=",".join(JOBS))
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
    parallel = [name for name in commands if JOBS[name].parallel]
    with tempfile.TemporaryDirectory() as name:
        inputs = Path(name)
        write_inputs(inputs)
        references = {}
        for number in range(options.trials):
            kind = kinds[number % len(kinds)]
            command = chance.choice(parallel or commands if kind == "worker" else commands)
            if command not in references or number % 15 == 0:  # the machine may be busier by now
                references[command] = reference(JOBS[command], inputs)
            outcome = trial(
                kind, command, references[command], inputs, options.patience, options.seed + number
            )
            outcomes.append(outcome)
            if outcome.faults:
                print(f"{number}: {command}, {kind} after {outcome.after:.3f} s: {', '.join(outcome.faults)}")
    print(f"\n{'signal':<12}{'trials':>8}{'missed':>8}{'writing':>9}{'longest':>9}  exits, faults")
    for kind in kinds:
        of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        exits = Counter(outcome.status for outcome in of_kind)
        faults = Counter(fault for outcome in of_kind for fault in outcome.faults)
        longest = max((outcome.took for outcome in of_kind), default=0.0)
        summary = ", ".join(f"{status}: {count}" for status, count in exits.items())
        summary += "".join(f"; {count} {fault}" for fault, count in faults.items())
        print(
            f"{kind:<12}{len(of_kind):>8}{sum(o.missed for o in of_kind):>8}"
            f"{sum(o.writing for o in of_kind):>9}{longest:>8.2f}s  {summary}"
        )
    bad = [fault for outcome in outcomes for fault in outcome.faults if fault != "before the first line"]
    print(f"{len(bad)} faults in {len(outcomes)} trials")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
