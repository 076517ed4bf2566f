"""Contract of every run, for any input."""

import json
import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

# Limits of a run: CPU seconds, and memory in addition to that of the program.
MOST_SECONDS, MOST_BYTES = 10.0, 1 << 30
DIRECTIONS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# How a gate's own notes begin, which are commands, read to the end of the line and no further.
NOTES = tuple(f"::{level} title=riskrank gate::" for level in ("error", "warning"))


@dataclass(frozen=True)
class Run:
    """A command and its results."""

    args: tuple[str, ...]
    status: int
    stdout: str
    stderr: str
    warnings: tuple[str, ...]
    kind: str
    gated: bool
    seconds: float = 0.0
    memory: int = 0


def violations(run: Run) -> list[str]:
    """Return all violations of the contract by a run."""
    return [*_exits(run), *_streams(run), *_costs(run)]


def judged(run: Run) -> list[tuple[Run, str]]:
    """Return all violations of the contract, each with its run."""
    return [(run, text) for text in violations(run)]


def comparable(run: Run) -> object:
    """Return the document of a run without its inputs, or its status if it has none."""
    if run.status in (2, 3):
        return run.status
    document = json.loads(run.stdout)
    for name in ("inputs", "suggestions", "warnings"):
        document["meta"].pop(name, None)
    return document


def _costs(run: Run):
    if run.seconds > MOST_SECONDS:
        yield f"over {MOST_SECONDS:.0f} s: {run.seconds:.1f}"
    if run.memory > MOST_BYTES:
        yield f"over 1 GiB: {run.memory >> 20} MiB"


def _exits(run: Run):
    allowed = {0, 2, 3, *((1, 4) if run.gated else ())}
    if run.status not in allowed:
        yield f"exit status {run.status}"
    if "internal error in riskrank" in run.stderr:
        yield "a defect: " + run.stderr.splitlines()[1][:300]
    if run.warnings:
        yield f"a warning of Python: {run.warnings[0][:300]}"
    if run.status in (2, 3):
        lines = run.stderr.splitlines()
        unexpected = [line for line in lines[3:] if not line.startswith("  riskrank ")]
        if [line.partition(": ")[0] for line in lines[:3]] != ["error", "found", "hint"] or unexpected:
            yield f"an error is not three lines, with lines to copy: {run.stderr[:300]!r}"
        if not all(line.partition(": ")[2].strip() for line in lines[:3]):
            yield f"an empty line: {run.stderr[:300]!r}"
        if run.stdout and run.args[0] != "check":  # which describes what the others refuse
            yield f"output beside an error: {run.stdout[:200]!r}"
    if max(map(len, run.stderr.splitlines()), default=0) > 2_300:
        yield f"a line of {max(map(len, run.stderr.splitlines()))} characters"


def _streams(run: Run):
    if (character := acting(run.stderr)) is not None:
        yield f"{character!r} on standard error"
    if run.kind not in ("csv", "parquet") and (character := acting(run.stdout)) is not None:
        yield f"{character!r} in {run.kind}"
    if run.status in (0, 1, 4) and run.kind in ("json", "jsonl") and "-o" not in run.args:
        texts = [run.stdout] if run.kind == "json" else run.stdout.splitlines()
        for text in texts:
            try:
                json.loads(text, parse_constant=_refuse)
                text.encode()
            except ValueError as error:
                yield f"no strict JSON: {error}"


def _refuse(name: str):
    raise ValueError(name)


def acting(text: str) -> str | None:
    """Return an active character of a text (control, separator or direction), or None."""
    for mark in set(text) - {"\n"}:
        if unicodedata.category(mark) in ("Cc", "Zl", "Zp", "Cs") or mark in DIRECTIONS:
            return mark
    return None


def obeyed(text: str) -> bool:
    """Return whether CI would interpret a line as a command, apart from the annotations of a gate."""
    return any(
        line.lstrip().startswith("::") or re.search(r"##\[|##vso\[|##teamcity\[", line.lower())
        for line in text.split("\n")
        if not line.startswith(NOTES)
    )


def exact_ratios(x: list[float], y: list[float]) -> dict[int, Fraction | None]:
    """Return the violation ratios of "x dominates y" in both orders as fractions; None for equal samples.

    Both samples have n scores, so quantile functions have steps of width 1/n.
    """
    gaps = [Fraction(a) - Fraction(b) for a, b in zip(sorted(x), sorted(y), strict=True)]
    squares = sum(gap * gap for gap in gaps)
    first = None if squares == 0 else sum(gap * gap for gap in gaps if gap < 0) / squares
    area, lost, total = Fraction(0), Fraction(0), Fraction(0)
    for gap in gaps:
        total += _square(area, area + gap)
        lost += _lost(area, area + gap)
        area += gap
    return {1: first, 2: None if total == 0 else lost / total}


def _square(left: Fraction, right: Fraction) -> Fraction:
    """Integrate the square of a linear function over a step of width 1."""
    return (left * left + left * right + right * right) / 3


def _lost(left: Fraction, right: Fraction) -> Fraction:
    """Integrate the square of the negative part of a linear function over a step of width 1."""
    if left >= 0 and right >= 0:
        return Fraction(0)
    if left <= 0 and right <= 0:
        return _square(left, right)
    low = min(left, right)
    return abs(low) / abs(right - left) * low * low / 3
