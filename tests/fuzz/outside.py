"""Random environments of a run: databases, pipes, CI servers, shared folders, variables, limits."""

import errno
import io
import json
import os
import resource
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from random import Random

from riskrank.scores.files import guards
from tests.fuzz import inputs
from tests.fuzz.oracles import Run, comparable, judged, obeyed
from tests.fuzz.running import as_process, in_process, write

ENDLESS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT {} FROM r"
COMMANDS = ("rank", "dominance", "mrm", "portfolio", "check")
FORMATS = ("table", "json", "jsonl", "csv", "markdown", "latex", "html")
BUILDS = {"GITHUB_ACTIONS": "true", "GITLAB_CI": "true", "TF_BUILD": "True", "TEAMCITY_VERSION": "2026"}
ORDERS = (
    "##[stop-commands]x",
    "::error::y",
    " ::add-mask::z",
    "##vso[task.x]y",
    "##teamcity[x]",
    "a##[b",
    "::",
)
REACHING = ('executor = "dask:203.0.113.9:1"', 'output = "../r.json"', 'metrics-file = "s3://b/m.toml"')


def _plain(rng: Random, folder: Path) -> tuple[inputs.Table, str]:
    table = inputs.table(rng, plain=True)
    return table, write(folder, "plain.csv", table.lines())


def _words(rng: Random, path: str, kind: str, command: str | None = None) -> list[str]:
    command = command or rng.choice(COMMANDS)
    words = [command, path, "--higher", "*", "--format", kind]
    return [*words, "--no-test"] if command in ("rank", "dominance", "mrm") else words


def _differs(run: Run, other: Run) -> list[tuple[Run, str]]:
    same = comparable(run) == comparable(other)
    return [] if same else [(run, f"another result than from a file: {run.stderr[:200]!r}")]


def database(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that a database gives the same result as a file; views may be endless, files damaged."""
    table, plain = _plain(rng, folder)
    path = folder / rng.choice(("t.sqlite", "t.db"))
    rows = [tuple(row.values()) for row in table.rows()]
    rng.shuffle(rows)
    logged, view, hurt = rng.random() < 0.4, rng.random() < 0.3, rng.random() < 0.3
    with closing(sqlite3.connect(path)) as connection:
        if logged:
            connection.execute("PRAGMA journal_mode = WAL")
        if view:
            columns = rng.choice(("'a' AS model, i AS sample, 'm' AS metric, i AS score", "count(*) AS n"))
            connection.execute(f"CREATE VIEW scores AS {ENDLESS.format(columns)}")
        else:
            connection.execute("CREATE TABLE scores (model, sample, metric, score)")
            connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?)", rows)
        connection.commit()
        if logged and rng.random() < 0.5:  # as a program that was killed leaves it
            files = {kind: Path(f"{path}{kind}").read_bytes() for kind in ("", "-wal")}
            path = folder / "copied.db"
            for kind, data in files.items():
                Path(f"{path}{kind}").write_bytes(data)
    if hurt:
        path.write_bytes(inputs.damaged(rng, path.read_bytes()))
    before = {entry.name for entry in folder.iterdir()}
    words = _words(rng, str(path.name), "json", rng.choice(("rank", "portfolio", "mrm")))
    if view:
        words += ["--set", "max-bytes=1000000"] * rng.randrange(2)
        words += ["--sql", "SELECT * FROM scores ORDER BY 1"] * rng.randrange(2)
    seconds, guards._SECONDS = guards._SECONDS, 0.3 if view else 60.0
    try:
        run = in_process(words, "json")
    finally:
        guards._SECONDS = seconds
    wrong = judged(run)
    left = {entry.name for entry in folder.iterdir()} - before
    if left:
        wrong.append((run, f"files left: {sorted(left)}"))
    if view and not hurt and run.status != 2:
        wrong.append((run, f"an endless view ends: exit {run.status}"))
    if not view and not hurt:
        wrong += _differs(run, in_process([words[0], plain, *words[2:]], "json"))
    return wrong


class Trickling:
    """Standard input in pieces of random size, possibly endless."""

    def __init__(self, rng: Random, data: bytes, endless: bool) -> None:
        self.rng, self.left, self.endless, self.most = rng, data, endless, 1 << 26

    def read(self, size: int) -> bytes:
        part = self.left[: self.rng.randrange(1, max(min(size, 800), 2))]
        self.left = self.left[len(part) :]
        if part or not self.endless:
            return part
        assert self.most > 0, "far more was read than allowed"
        self.most -= min(size, 100_000)
        return b"a,1,m,1\n" * (min(size, 100_000) // 8)


def pipe(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that a pipe gives the same result as a file, and that an endless pipe is read up to a limit."""
    _, plain = _plain(rng, folder)
    data = (folder / plain).read_bytes()
    endless, named = rng.random() < 0.3, rng.random() < 0.5
    words = _words(rng, "t.csv" if named else "-", "json", rng.choice(("rank", "portfolio")))
    words += ["--input-format", "csv", *(["--set", "max-bytes=500000"] if endless else [])]
    if not named:
        run = in_process(words, "json", Trickling(rng, data, endless))
    else:
        os.mkfifo(folder / "t.csv")

        def give() -> None:
            with suppress(BrokenPipeError), (folder / "t.csv").open("wb", buffering=0) as file:
                file.write(data)
                while endless:
                    file.write(b"a,1,m,1\n" * 1000)

        giver = threading.Thread(target=give, daemon=True)
        giver.start()
        run = in_process(words, "json")
        giver.join(60)
    wrong = judged(run)
    if endless:
        refused = run.status == 2 and "500,000 bytes" in run.stderr
        return wrong if refused else [*wrong, (run, f"an endless pipe: {run.status}, {run.stderr[:200]!r}")]
    return wrong + _differs(run, in_process([words[0], plain, *words[2:]], "json"))


def build(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that names which are workflow commands are harmless in each output format."""
    table = inputs.table(rng)
    names = dict(zip((*table.models, *table.metrics), rng.sample(ORDERS, len(ORDERS)), strict=False))
    rows = [{key: names.get(str(value), value) for key, value in row.items()} for row in table.rows()]
    path = write(folder, "t.jsonl", "\n".join(map(json.dumps, rows)).encode())
    name = rng.choice(list(BUILDS))
    kind = rng.choice(FORMATS)
    words = _words(rng, path, kind)
    if rng.random() < 0.2:
        words = f"gate {path} --better ::error::y::: --resamples 20 --set jobs=1 --format {kind}".split()
    elif rng.random() < 0.2:
        words += ["--models", rng.choice(ORDERS)]
    run = in_process(words, kind, variables={name: BUILDS[name]})
    wrong = judged(run)
    for stream, text in (("output", run.stdout), ("error", run.stderr)):
        if obeyed(text):
            wrong.append((run, f"a command to {name} on standard {stream}"))
    return wrong


def discovered_configuration(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that a discovered configuration file cannot access paths outside its folder."""
    _, plain = _plain(rng, folder)
    reaching = rng.choice((None, *REACHING))
    lines = ["order = 1"]
    if reaching:
        lines.append(rng.choice((reaching, f"[rank]\n{reaching}")))
    text = "\n".join(lines).encode()
    hurt = rng.random() < 0.2
    (folder / "riskrank.toml").write_bytes(inputs.damaged(rng, text) if hurt else text)
    run = in_process(["rank", plain, "--no-test", "--format", "json", "--higher", "*"], "json")
    wrong = judged(run)
    if reaching and not hurt and "if you trust this file" not in run.stderr:
        wrong.append((run, f"a found file reaches out: {reaching}"))
    if (folder.parent / "r.json").exists():
        wrong.append((run, "written outside of the folder"))
    return wrong


class Leaking(io.RawIOBase):
    """Standard output that accepts parts of its input, and may fail after some bytes."""

    def __init__(self, rng: Random, full: int | None) -> None:
        self.rng, self.full, self.taken = rng, full, bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        most = len(data) if self.full is None else self.full - len(self.taken)
        if most <= 0:
            raise OSError(self.rng.choice((errno.ENOSPC, errno.EFBIG, errno.EDQUOT)), "no room")
        part = bytes(data[: min(most, self.rng.choice((1, 100, 4096, 1 << 20)))])
        self.taken += part
        return len(part)

    def getvalue(self) -> bytes:
        return bytes(self.taken)


def partial_write(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that all output is written, or that the run reports a failure."""
    _, plain = _plain(rng, folder)
    kind = rng.choice(FORMATS)
    words = _words(rng, plain, kind)
    expected = in_process(words, kind)
    full = rng.choice((None, rng.randrange(1, len(expected.stdout.encode()) + 100)))
    run = in_process(words, kind, raw=Leaking(rng, full))
    fits = full is None or full >= len(expected.stdout.encode())
    if fits and (run.status, run.stdout) != (expected.status, expected.stdout):
        return [(run, f"not all is written, exit {run.status}: {len(run.stdout)} of {len(expected.stdout)}")]
    if not fits and expected.status == 0:
        lines = [line.partition(":")[0] for line in run.stderr.splitlines()]
        if run.status != 2 or lines != ["error", "found", "hint"]:
            return [(run, f"not all is written, exit {run.status}: {run.stderr[:200]!r}")]
    return []


def environment(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Run the program as a process with random environment variables and limits."""
    _, plain = _plain(rng, folder)
    words = _words(rng, plain, "json", rng.choice(("rank", "portfolio")))
    if words[0] == "rank" and rng.random() < 0.3:
        words += ["--plot", "p.svg"]
    pool = {
        "HOME": ("/proc/nothing", "", "/dev/null"),
        "TMPDIR": ("/proc/nothing", ""),
        "PYTHONUNBUFFERED": ("1",),
        "PYTHONIOENCODING": ("ascii", "latin-1"),
        "LC_ALL": ("C", "nonsense"),
        "COLUMNS": ("0", "-1", "abc", "1"),
        "TERM": ("dumb", ""),
        "OMP_NUM_THREADS": ("0", "abc"),
        "GITHUB_ACTIONS": ("true",),
    }
    variables = {name: rng.choice(pool[name]) for name in rng.sample(sorted(pool), rng.randrange(1, 5))}
    size = rng.choice((None, None, 1024))

    def limited() -> None:
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    before = {entry.name for entry in folder.iterdir()}
    status, stdout, stderr = as_process(words, folder, before=limited, **variables)
    description = f"{variables}, {size} bytes"
    run = Run((*words, description), status, stdout, stderr, (), "json", False)
    wrong = judged(run)
    left = {entry.name for entry in folder.iterdir()} - before - {"p.svg"}
    if left:
        wrong.append((run, f"files left: {sorted(left)}"))
    return wrong


IN_PROCESS = (database, pipe, build, discovered_configuration, partial_write)
