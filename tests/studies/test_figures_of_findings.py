"""Each number in the sentence of a finding is one of the finding's figures."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
STORED = sorted([*ROOT.glob("*/screens/*.txt"), *ROOT.glob("cli/made/*.txt")])
NUMBER = re.compile(r"(?<![\w.-])[+−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
# Counts of what `meta` lists, means of models that the finding does not name,
# levels of tests, names, and lengths of lists.
IGNORED = re.compile(
    r"\b(?:of|all|All|these|the|other|both|its?) (?:these )?\d+ "
    r"(?:tasks?|models?|metrics|others?|criteria|columns)"
    r"|(?<![\d.,])\d+ (?:of \d+ )?(?:others?|more|other models?|other pairs?)\b|\d+ of these \d+"
    r"|these \d+\b|of \d+ models"
    r"|(?:run|runs|Group|groups) [^:;,.]*|among these \d+|p < 0\.001|[<>≤]=? ?[\d.]+|\w+[@^][\d.]+"
    r"|[Oo]thers? (?:models )?are better on [^;]*|\S+ is better on [^;]*; compared with"
    r"|; \S+ is better on [^;]*\.$"
    r"|-\w+ at [\d.]+|\ball \d+\b|of \d+ of them| in 100\b|rarer than 1\b|power 80 %"
)
"""Numbers in sentences that come from the table, the run, or names."""
KINDS_SKIPPED = {"nothing-tested", "by-seed"}
"""Kinds with numbers that are not figures: reasons for untested results, and required resamples."""


def findings():
    for file in STORED:
        for line in file.read_text().splitlines():
            # Screens that name temporary files are stored in one line, with all findings.
            for match in re.finditer(r'\{"kind": ', line):
                finding, _ = json.JSONDecoder().raw_decode(line, match.start())
                if "sentence" in finding:
                    yield file.name, finding


def numbers(finding):
    sentence = finding["sentence"] or ""
    for name in sorted({*finding["models"], finding["on"] or ""} - {""}, key=len, reverse=True):
        sentence = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "X", sentence)
    return NUMBER.findall(IGNORED.sub(" ", sentence))


def is_figure(text, figures):
    """Return True if a number matches a figure, as a share or in per cent, within its rounding."""
    value = float(text.replace(",", "").replace("−", "-"))
    unit = 10 ** -len(text.partition(".")[2])
    last = 0.51 * unit
    # Numbers of samples are rounded up to one or two digits.
    loose = max(last, 0.06 * abs(value)) if "." not in text else last + 1e-5 * abs(value)
    # Required samples and detectable differences are rounded up to half a digit,
    # effective numbers of folds are rounded down.
    digits = text.replace(",", "").replace(".", "").strip("+−0")
    half = len(digits) == 2 and digits[1] == "5"
    upwards = value / int(digits) * (5 if half else 1) if half or len(digits) == 1 else 0
    return any(
        abs(abs(times * figure) - abs(value)) <= loose
        or 0 <= times * figure - value < unit
        or 0 <= value - times * figure <= upwards
        for figure in figures.values()
        if figure is not None
        for times in (1, 100)
    )


def test_numbers_of_sentences_are_figures():
    unmatched = {}
    for file, finding in findings():
        missing = [text for text in numbers(finding) if not is_figure(text, finding["figures"])]
        if missing and finding["kind"] not in KINDS_SKIPPED:
            unmatched.setdefault(finding["kind"], (file, missing, finding["figures"], finding["sentence"]))
    assert not unmatched


def test_number_without_a_figure_is_detected():
    finding = {"kind": "mean", "models": ["a", "b"], "on": "q", "figures": {"mean": 0.391, "against": -0.15}}
    finding["sentence"] = "a's mean is 0.39 against −0.15 for b (difference 0.25 to 0.82)."
    assert [text for text in numbers(finding) if not is_figure(text, finding["figures"])] == ["0.25", "0.82"]
