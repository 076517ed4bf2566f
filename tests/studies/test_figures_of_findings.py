"""Every number in the sentence of a finding stands in its figures, for programs."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
STORED = sorted([*ROOT.glob("*/screens/*.txt"), *ROOT.glob("cli/made/*.txt")])
NUMBER = re.compile(r"(?<![\w.-])[+−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
# Counts of what `meta` lists, means of models that the finding does not name,
# levels that say how a test was made, names, and how long a list goes on.
TOLD_ELSEWHERE = re.compile(
    r"\b(?:of|all|All|these|the|both|its?) (?:these )?\d+ (?:tasks?|models?|metrics|others?|criteria|columns)"
    r"|(?<![\d.,])\d+ (?:of \d+ )?(?:others?|more|other models?|other pairs?)\b|\d+ of these \d+"
    r"|these \d+\b|of \d+ models"
    r"|(?:run|runs|Group|groups) [^:;,.]*|among these \d+|p < 0\.001|[<>]=? ?[\d.]+|\w+[@^][\d.]+"
    r"|[Oo]thers are better on [^;]*|\S+ is better on [^;]*; against"
    r"|; \S+ is better on [^;]*\.$"
    r"|-\w+ at [\d.]+|\ball \d+\b|of \d+ of them| in 100\b"
)
"""What a sentence has of the table, of the run, or of names."""
KINDS_LEFT = {"nothing-tested", "by-seed"}
"""Whose numbers say why nothing could be tested, in words of copa; and how many resamples would settle it."""


def findings():
    for file in STORED:
        for line in file.read_text().splitlines():
            found = re.search(r'\{"kind": .*"sentence": .*\}$', line)
            if found:
                yield file.name, json.loads(found.group(0))


def numbers(finding):
    sentence = finding["sentence"] or ""
    for name in sorted({*finding["models"], finding["on"] or ""} - {""}, key=len, reverse=True):
        sentence = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "X", sentence)
    return NUMBER.findall(TOLD_ELSEWHERE.sub(" ", sentence))


def told(text, figures):
    """Whether a number is one of the figures, as a share or in per cent, within its rounding."""
    value = float(text.replace(",", "").replace("−", "-"))
    unit = 10 ** -len(text.partition(".")[2])
    last = 0.51 * unit
    # Numbers of samples are rounded to a digit or two, upwards.
    loose = max(last, 0.06 * abs(value)) if "." not in text else last + 1e-5 * abs(value)
    # Samples that would decide, and differences that could be shown, are rounded up to a digit or a half of
    # one, and what folds count as down.
    digits = text.replace(",", "").replace(".", "").strip("+−0")
    half = len(digits) == 2 and digits[1] == "5"
    upwards = value / int(digits) * (5 if half else 1) if half or len(digits) == 1 else 0
    return any(
        abs(abs(times * one) - abs(value)) <= loose
        or 0 <= times * one - value < unit
        or 0 <= value - times * one <= upwards
        for one in figures.values()
        if one is not None
        for times in (1, 100)
    )


def test_every_number_of_a_sentence_is_a_figure():
    left = {}
    for file, finding in findings():
        lacking = [text for text in numbers(finding) if not told(text, finding["figures"])]
        if lacking and finding["kind"] not in KINDS_LEFT:
            left.setdefault(finding["kind"], (file, lacking, finding["figures"], finding["sentence"]))
    assert not left


def test_a_number_without_a_figure_is_found():
    finding = {"kind": "mean", "models": ["a", "b"], "on": "q", "figures": {"mean": 0.391, "against": -0.15}}
    finding["sentence"] = "a's mean is 0.39 against −0.15 of b (difference 0.25 to 0.82)."
    assert [text for text in numbers(finding) if not told(text, finding["figures"])] == ["0.25", "0.82"]
