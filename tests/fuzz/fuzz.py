"""Run riskrank on thousands of generated inputs and report violations of its contract: ``make fuzz``.

Each case depends on the seed and its own number only, so a single case can be repeated:
``python tests/fuzz/fuzz.py --only 1234``. ``--structured`` damages valid exports slightly instead.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from riskrank.scores.exports.catalogue import EXPORTS  # noqa: E402
from tests.fuzz import inputs, outside, refusals, relations, structured  # noqa: E402
from tests.fuzz.oracles import Run, comparable, exact_ratios, judged  # noqa: E402
from tests.fuzz.running import EXIT_COUNTS, as_process, in_process, write  # noqa: E402

COMMANDS = ("rank", "dominance", "mrm", "gsd", "copa", "portfolio", "power", "gate", "check")
FORMATS = ("table", "json", "jsonl", "csv", "markdown")
WORDS = inputs.vocabulary()


def case(seed: int, number: int, folder: Path) -> list[tuple[Run, str]]:
    """Generate one case, run it, and return the violations."""
    rng = Random(f"{seed}/{number}")
    if number % 2:
        return refusals.case(rng, folder)
    kind = rng.random()
    if kind < 0.4:
        return _damaged(rng, folder, process=number % 150 == 8)
    if kind < 0.52:
        return _export(rng, folder)
    if kind < 0.62:
        return _two_formats(rng, folder)
    if kind < 0.7:
        return _ratios(rng, folder)
    if kind < 0.72:
        return outside.environment(rng, folder)
    return rng.choice(outside.IN_PROCESS)(rng, folder)


def structured_case(seed: int, number: int, folder: Path) -> list[tuple[Run, str]]:
    """Run one case of the structured fuzzer, which changes one or two places of a valid export."""
    return structured.case(Random(f"structured {seed}/{number}"), folder)


def exact_case(seed: int, number: int, folder: Path) -> list[tuple[Run, str]]:
    """Run one trial with a known answer, from exact fractions or from an equivalent table."""
    rng = Random(f"known {seed}/{number}")
    return rng.choice((_ratios, _two_formats, relations.means, relations.places, relations.places))(
        rng, folder
    )


def _damaged(rng: Random, folder: Path, *, process: bool) -> list[tuple[Run, str]]:
    table = inputs.table(rng)
    suffix, data = inputs.dressed(rng, table, rng.choice(inputs.KINDS))
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        data = inputs.damaged(rng, data)
    command, kind = rng.choice(COMMANDS), rng.choice(FORMATS)
    args = [
        command,
        write(folder, f"t{suffix}", data),
        *inputs.options(rng, command, table),
        "--format",
        kind,
    ]
    if rng.random() < 0.2:
        metrics = inputs.metrics_file(rng, table)
        metrics = inputs.damaged(rng, metrics) if rng.random() < 0.3 and metrics else metrics
        args += ["--metrics-file", write(folder, "m.toml", metrics)]
    output = folder / "out.txt"
    if rng.random() < 0.2:
        args += ["-o", str(output)]
    before = set(folder.iterdir())
    run = in_process(args, kind)
    wrong = judged(run)
    left = {path for path in set(folder.iterdir()) - before if path != output or run.status in (2, 3)}
    if left and command != "check":
        wrong.append((run, f"files left: {sorted(path.name for path in left)}"))
    if process and not output.exists():
        status, stdout, stderr = as_process(args, folder)
        if (status, stdout) != (run.status, run.stdout) or stderr != run.stderr:
            wrong.append((run, f"another outcome as a process: {status}, {stderr[:200]!r}"))
    return wrong


def _export(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    name, data = inputs.export(rng, WORDS)
    if rng.random() < 0.2 and data:
        data = inputs.damaged(rng, data)
    kind = rng.choice(("csv", "json", "jsonl"))
    form = rng.choice((*EXPORTS, "auto"))
    args = ["convert", form, write(folder, name, data), "--format", kind]
    rules = (["--skip-bad"], ["--parts"], ["--split", "*"], ["--filter", "*"], ["--model-from-path", "(x)"])
    args += [word for rule in rng.sample(rules, rng.choice((0, 0, 1, 2))) for word in rule]
    run = in_process(args, kind)
    summary = run.status == 0
    return [(run, text) for run, text in judged(run) if not (summary and text.startswith("an error is not"))]


def _two_formats(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check that the same table in two formats gives the same document."""
    table = inputs.table(rng, plain=True)
    command = rng.choice(("rank", "dominance", "mrm", "copa", "portfolio", "check", "gsd"))
    args = inputs.options(rng, command, table)
    documents = []
    wrong = []
    for place, dress in enumerate(rng.sample(inputs.KINDS, 2)):
        suffix, data = inputs.dressed(rng, table, dress)
        run = in_process(
            [command, write(folder, f"t{place}{suffix}", data), *args, "--format", "json"], "json"
        )
        wrong += judged(run)
        documents.append(comparable(run))
    if documents[0] != documents[1]:
        wrong.append((run, "another result for the same table in another dress"))
    return wrong


def _ratios(rng: Random, folder: Path) -> list[tuple[Run, str]]:
    """Check violation ratios against exact fractions."""
    n = rng.choice((1, 2, 5, 12, 30))
    scores = [
        lambda: float(rng.randrange(-3, 4)),
        lambda: round(rng.gauss(0, 1), 3),
        lambda: rng.gauss(0, 1) * 10.0 ** rng.randrange(-8, 9),
    ][rng.randrange(3)]
    columns = {model: [scores() for _ in range(n)] for model in "ab"}
    if len({*columns["a"], *columns["b"]}) == 1:
        return []
    lines = [
        f"{model},{at},x,{value!r}" for model, values in columns.items() for at, value in enumerate(values)
    ]
    name = write(folder, "r.csv", "\n".join(["model,sample,metric,score", *lines]).encode())
    run = in_process(
        ["dominance", name, "--higher", "x", "--no-test", "--per-metric", "--format", "json"], "json"
    )
    wrong = judged(run)
    if run.status:
        return wrong
    for row in json.loads(run.stdout)["results"]:
        if row["test"] == "relative":
            continue
        exact = exact_ratios(columns[row["winner"]], columns[row["loser"]])[row["order"]]
        expected = 0.5 if exact is None else float(exact)
        if abs(row["violation_ratio"] - expected) > 1e-9 * max(expected, 1e-6):
            wrong.append((run, f"ratio {row['violation_ratio']!r}, in fractions {expected!r}"))
    return wrong


def fuzz(seed: int, numbers, *, report=None, make=case) -> list[tuple[int, Run, str]]:
    """Run cases in a temporary folder and return the violations."""
    violations = []
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        for number in numbers:
            folder = Path(place, "case")
            folder.mkdir()
            os.chdir(folder)
            try:
                wrong = make(seed, number, folder)
            finally:
                os.chdir(home)
            for run, text in wrong:
                violations.append((number, run, text))
                if report:
                    report(number, run, text)
            shutil.rmtree(folder)
    return violations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--structured", action="store_true", help="exports that are nearly whole")
    parser.add_argument("--known", action="store_true", help="exact and metamorphic trials")
    parser.add_argument("--formats", type=Path, help="folder of real exports, a folder a harness")
    arguments = parser.parse_args()
    structured.FORMATS = arguments.formats and arguments.formats.resolve()
    numbers = (
        [arguments.only]
        if arguments.only is not None
        else range(arguments.start, arguments.start + arguments.runs)
    )

    def report(number, run, text):
        print(f"{number}: {text}\n    riskrank {' '.join(map(repr, run.args))}"[:1500], flush=True)

    make = structured_case if arguments.structured else exact_case if arguments.known else case
    violations = fuzz(arguments.seed, numbers, report=report, make=make)
    kinds = Counter(text.partition(":")[0] for _, _, text in violations)
    print(f"{len(numbers):,} cases, seed {arguments.seed}: {len(violations)} violations {dict(kinds) or ''}")
    print("exits: " + ", ".join(f"{status}: {count:,}" for status, count in sorted(EXIT_COUNTS.items())))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
