"""Each command of the README and the guide prints the output on its page."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("examples", Path(__file__).with_name("examples.py"))
examples = importlib.util.module_from_spec(spec)
sys.modules["examples"] = examples
spec.loader.exec_module(examples)

EXAMPLES = [example for page in examples.pages() for example in examples.examples(page)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{example.page.stem}: {example.command[:60]}" for example in EXAMPLES]
)
def test_examples_print_the_documented_output(example):
    assert example.output, "an example that fails shows nothing: run `make readme` and look at its errors"
    assert examples.difference(example.output, examples.run(example.command)) is None


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{example.page.stem}: {example.command[:60]}" for example in EXAMPLES]
)
def test_numbers_are_typeset_consistently(example):
    """Text uses a minus sign instead of a hyphen and a space before a percent sign; data use 1e-6."""
    if re.search(r"--format (csv|json|jsonl|latex)|--output|convert (?!verdicts)", example.command):
        return
    assert re.findall(r"(?<![\w)\]−-])-\.?\d\S*|\d%", example.output) == []


def test_every_command_has_an_example():
    from riskrank.options.commands import BY_NAME as COMMANDS

    commands = " ".join(example.command for example in EXAMPLES)
    assert [name for name in COMMANDS if f"riskrank {name} " not in commands] == []


def test_make_targets_named_on_a_page_exist():
    makefile = (examples.ROOT / "Makefile").read_text()
    for page in examples.pages():
        for target in set(re.findall(r"`make ([a-z-]+)`", page.read_text(encoding="utf-8"))):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"{page.name}: make {target}"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("a 2.062e-05  b", "a 2.0625e-05 b"),
        ("0.25 ─────", "0.26  ───"),
        ('"p": 0.123456789012345', '"p": 0.123456789012399'),
        ("1,013 tasks", "1,013 tasks"),
        ("[-0.10, 0.30]", "[-0.11, 0.30]"),
    ],
)
def test_numbers_agree_within_their_digits(expected, actual):
    assert examples.difference(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("a 0.25", "b 0.25"),
        ("0.25", "0.27"),
        ("2.062e-05", "2.064e-05"),
        ("rank 1", "rank 2"),
        ("1,013 tasks", "1,014 tasks"),
        ('"p": 0.123456789012345', '"p": 0.123456799'),
        ("model2 0.5", "model3 0.5"),
        ("0.25", "-0.25"),
        ("0.25", "0.25 0.25"),
        ("0.25", "0.25\nmore"),
        ("0.25\nmore", "0.25"),
    ],
)
def test_other_words_and_other_numbers_differ(expected, actual):
    assert examples.difference(expected, actual) is not None
