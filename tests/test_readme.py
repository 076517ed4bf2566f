"""Every command the README shows prints what the README says it prints."""

import importlib.util
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location(
    "readme_examples", Path(__file__).with_name("readme_examples.py")
)
readme_examples = importlib.util.module_from_spec(spec)
sys.modules["readme_examples"] = readme_examples
spec.loader.exec_module(readme_examples)

TEXT = readme_examples.README.read_text(encoding="utf-8")
EXAMPLES = readme_examples.examples(TEXT)


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.command[:60] for example in EXAMPLES])
def test_example_prints_what_it_shows(example):
    assert readme_examples.run(example.command) == example.shown


def test_every_command_has_an_example():
    from riskrank.cli.main import COMMANDS

    shown = " ".join(example.command for example in EXAMPLES)
    assert [name for name in COMMANDS if f"riskrank {name} " not in shown] == []


def test_make_targets_named_in_the_readme_exist():
    import re

    makefile = (readme_examples.ROOT / "Makefile").read_text()
    for target in set(re.findall(r"`make ([a-z-]+)`", TEXT)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
