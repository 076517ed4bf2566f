"""Random tables in random formats with random damage, exports of random structure, and random options."""

import ast
import gzip
import io
import json
import string
from dataclasses import dataclass
from pathlib import Path
from random import Random

import polars as pl
import zstandard

ROOT = Path(__file__).resolve().parents[2]
READERS = ROOT / "riskrank" / "scores" / "exports"

WORDS = r"""a b c A gpt-4 loss x,y q"uote 007 1.0 1 nan null -1 =1+1 @x [x](javascript:1) ![i](http://x/y) <b> &amp;
a|b `c` *s* a:b a=b é 模型 😀 --help %s {} $HOME \ ../x NUL true score sample metric"""
ODD = "model 1|e\u0301|a\u202eb|\u2066x|x\u2028y|t\x1b[31m|b\x07|c\x9b|d\x7f|\ufeff"
NAMES = (*WORDS.split(), *ODD.split("|"), "a" * 300)
FIGURES = """0 1 -1 0.5 1e-3 1e149 -1e149 1e150 1e308 5e-324 -0.0 0x1 1,5 1_000 nan NaN inf -Infinity true none text ١
1e999"""
NUMBERS = (*FIGURES.split(), "", "9" * 400)
FILES = """results_2024-01-01.json samples_task_2024.jsonl x.json x.jsonl log.json x.csv x.eval annotations.json
per_instance_stats.json run_spec.json eval_results.json"""
ROLES = ("model", "sample", "metric", "score")


@dataclass(frozen=True)
class Table:
    """Long table: names, and one score as text per model, sample and metric."""

    models: tuple[str, ...]
    samples: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: tuple[float, ...]

    def rows(self) -> list[dict[str, object]]:
        cells = ((m, s, k) for m in self.models for s in self.samples for k in self.metrics)
        return [
            dict(zip(ROLES, (*of, score), strict=True)) for of, score in zip(cells, self.scores, strict=True)
        ]

    def lines(self) -> bytes:
        """Return the lines of a plain CSV file."""
        return "\n".join(
            [",".join(ROLES), *(",".join(map(str, row.values())) for row in self.rows())]
        ).encode()


def table(rng: Random, *, plain: bool = False) -> Table:
    """Generate a complete table with plain or arbitrary names."""
    pool = [*string.ascii_lowercase] if plain else NAMES
    k, n, m = rng.choice((1, *(2, 3, 4) * 4)), rng.choice((3, 9, 12, 12, 20, 31)), rng.choice((1, 1, 2, 3))
    if plain:
        k, n = max(k, 2), max(n, 9)
    count = k * n * m
    kind = rng.randrange(6)
    scores = {
        0: lambda: rng.gauss(0, 1),
        1: lambda: float(rng.randrange(3)),
        2: lambda: round(rng.random(), 2),
        3: lambda: float(rng.randrange(2)),
        4: lambda: rng.gauss(0, 1) * 10.0 ** rng.randrange(-30, 30),
        5: lambda: rng.choice((0.1, 0.2, 0.3, 1e-300, 1e100, -1e100)),
    }[kind]
    names = rng.sample(pool, k + m)
    samples = tuple(f"s{number}" for number in range(n))
    return Table(tuple(names[:k]), samples, tuple(names[k:]), tuple(scores() for _ in range(count)))


def dressed(rng: Random, table: Table, kind: str) -> tuple[str, bytes]:
    """Return the bytes of a table in a given format, with shuffled rows, and the file suffix."""
    rows = table.rows()
    rng.shuffle(rows)
    texts = [
        {name: value if isinstance(value, str) else repr(value) for name, value in row.items()}
        for row in rows
    ]
    if kind in ("csv", "tsv", "semicolon"):
        frame = pl.DataFrame(texts).select(rng.sample(ROLES, 4))
        style = {
            "quote_style": rng.choice(("necessary", "always")),
            "line_terminator": rng.choice(("\n", "\r\n")),
        }
        data = frame.write_csv(separator={"csv": ",", "tsv": "\t", "semicolon": ";"}[kind], **style).encode()
        suffix = ".tsv" if kind == "tsv" else ".csv"
    elif kind == "jsonl":
        data = "\n".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) for row in rows).encode()
        suffix = ".jsonl"
    elif kind == "json":
        data, suffix = json.dumps(rows).encode(), ".json"
    elif kind == "columns":
        data = json.dumps({name: [row[name] for row in rows] for name in rows[0]}).encode()
        suffix = ".json"
    else:
        buffer = io.BytesIO()
        pl.DataFrame(rows).write_parquet(buffer)
        return ".parquet", buffer.getvalue()
    packing = rng.randrange(6)
    if packing == 0:
        return f"{suffix}.gz", gzip.compress(data)
    if packing == 1:
        return f"{suffix}.zst", zstandard.compress(data)
    return suffix, data


KINDS = ("csv", "tsv", "semicolon", "jsonl", "json", "columns", "parquet")


def damaged(rng: Random, data: bytes) -> bytes:
    """Damage bytes, as by an accident or an attack."""
    at = rng.randrange(len(data) + 1)
    lines = data.split(b"\n")
    line = rng.randrange(len(lines))
    number = rng.choice(NUMBERS).encode()
    other = lines[line].rpartition(b",")
    accidents = (
        lambda: data[:at],
        lambda: data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
        lambda: (
            data[:at] + rng.choice((b"\x00", b'"', b"\xff", b"\\ud800", b"\x1b", b"[" * 2000)) + data[at:]
        ),
        lambda: b"\n".join(lines[:line] + lines[line + 1 :]),
        lambda: b"\n".join([*lines[:line], lines[line], *lines[line:]]),
        lambda: b"\n".join([*lines[:line], other[0] + other[1] + number, *lines[line + 1 :]]),
        lambda: b"\n".join([*lines[:line], b"", *lines[line:]]),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data.decode(errors="replace").encode("utf-16"),
        lambda: data.replace(b"score", rng.choice((b"acc", b"model", b"Score ", b""))),
        lambda: data.replace(b"sample", rng.choice((b"id", b"doc", b"metric"))),
        lambda: b"",
        lambda: data + data[at:],
        lambda: data.replace(b"s1", rng.choice((b"s2", b"", b"x" * 140_000)), 1),
        lambda: data.replace(b"}", b', "score": 1}', 1),
    )
    return rng.choice(accidents)()


def vocabulary() -> list[str]:
    """Return every string constant of the export readers."""
    words: set[str] = set()
    for file in sorted(READERS.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 30:
                words.add(node.value)
    return sorted(words)


def any_json(rng: Random, words: list[str], depth: int = 4) -> object:
    """Generate a JSON value that contains words of the readers."""
    kind = rng.randrange(10 if depth else 6)
    if kind < 6:
        return (
            rng.choice(words),
            rng.choice(NAMES),
            rng.randrange(-3, 100),
            rng.random(),
            rng.choice((None, True, False, float("nan"), 10**400, "1", "0.5")),
            rng.choice(NUMBERS),
        )[kind]
    if kind < 8:
        return [any_json(rng, words, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(words): any_json(rng, words, depth - 1) for _ in range(rng.randrange(6))}


def export(rng: Random, words: list[str]) -> tuple[str, bytes]:
    """Generate a file that resembles a harness export."""
    name = rng.choice(FILES.split())
    documents = [
        {rng.choice(words): any_json(rng, words) for _ in range(rng.randrange(1, 9))}
        for _ in range(rng.randrange(1, 5))
    ]
    if name.endswith("l"):
        return name, "\n".join(map(json.dumps, documents)).encode()
    if name.endswith(".csv"):
        names = rng.sample(words, 4)
        lines = [",".join(f'"{rng.choice(NUMBERS)}"' for _ in names) for _ in range(4)]
        return name, ("\n".join([",".join(json.dumps(column) for column in names), *lines])).encode()
    return name, json.dumps(documents if rng.random() < 0.5 else documents[0]).encode()


def metrics_file(rng: Random, table: Table) -> bytes:
    """Generate a metrics file, mostly for the metrics of the table."""
    lines = []
    for name in (*table.metrics, *rng.sample(NAMES, rng.randrange(2))):
        lines.append(f"[{json.dumps(name, ensure_ascii=True)}]")
        if rng.random() < 0.7:
            lines.append(f'direction = "{rng.choice(("higher", "lower", "lower", "up"))}"')
        if rng.random() < 0.3:
            lines.append(
                f"bounds = [{rng.choice(('0', '-5', '1' + '0' * 400))}, {rng.choice(('1', '5', 'inf', '0'))}]"
            )
        if rng.random() < 0.3:
            lines.append(f"weight = {rng.choice(('1', '0', '-1', 'nan', '1' + '0' * 400))}")
        if rng.random() < 0.2:
            lines.append(f'scale = "{rng.choice(("ordinal", "cardinal", "?"))}"')
    return "\n".join(lines).encode()


COMMAND_OPTIONS = {
    "rank": "--all-methods | --per-metric | --aggregate borda | --top COUNT | --rank-by wins",
    "dominance": "--order 1 | --test all | --threshold 0.3 | --threshold COUNT",
    "mrm": "--level 0.1 | --level COUNT | --per-metric | --aggregate borda",
    "gsd": "--ordinal METRIC | --digits COUNT | --tolerance 0.1 | --baselines | --delta 0.1",
    "copa": "--sweep METRIC | --why A | --explain | --compare | --p COUNT | --require METRIC_<=_0.5",
    "portfolio": "--summary | --copula empirical | --summary --level 0.1",
    "power": "--variance clt | --order 1 | --target 0.7",
    "gate": "--better A:B | --not-worse A:B --margin 0.1 | --alpha 0.1 --better A:B | --alpha 0.1 --not-worse A:B --margin 0.1",
    "check": "--quiet",
}
SHARED = """--lower METRIC | --higher * | --models A,B | --metric METRIC | --missing drop | --repeats mean | --repeats min
| --repeats draws | --unpaired | --wide | --where NAME_>_1 | --where score_>_0.2 | --columns model=NAME | --set max-bytes=200
| --weight METRIC=0.5 | --cluster sample | --group-by sample | --sql SELECT_*_FROM_scores | --nonsense"""
TESTED = ("rank", "dominance", "mrm", "gsd")


def options(rng: Random, command: str, table: Table) -> list[str]:
    """Generate options of a command, most of them valid."""
    a = rng.choice(table.models)
    names = {
        "METRIC": rng.choice((*table.metrics, rng.choice(NAMES))),
        "COUNT": rng.choice((*("1", "2", "3") * 5, "0", "-1", "x", "9" * 30)),
        "NAME": rng.choice(NAMES),
        "A:B": f"{a}:{(b := rng.choice((*table.models, rng.choice(NAMES))))}",
        "A,B": f"{a},{b}",
    }

    def some(groups: str, count: int) -> list[str]:
        choices = [group.split() for group in groups.split("|")]
        return [word for group in rng.sample(choices, min(len(choices), count)) for word in group]

    words = some(COMMAND_OPTIONS[command], 1 if command == "gate" else rng.choice((0, 1, 1, 2)))
    words += some(SHARED, rng.choice((0, 0, 0, 0, 1, 1, 2)))
    for name, meant in names.items():
        words = [word.replace("_", " ").replace(name, meant) if name in word else word for word in words]
    words = [{"A": a}.get(word, word) for word in words]
    if command in ("gsd", "copa"):
        words += ["--higher", "*"]
    if command == "power":
        words += ["--simulations", "2", "--sizes", "12", "--pair", f"{table.models[0]}:{table.models[-1]}"]
    if command in TESTED and rng.random() < 0.6:
        words.append("--no-test")
    elif command in (*TESTED, "gate", "power"):
        words += ["--resamples", rng.choice(("20", "40"))]
    return [*words, *(("--set", "jobs=1") if command in (*TESTED, "gate", "power") else ())]
