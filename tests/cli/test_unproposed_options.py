"""A refusal of a table read without options names no option that it does not propose."""

import re

import pytest

from tests.scores.layouts import test_public_layouts, test_readings, test_suggestions

TABLES = {f"readings: {name}": row[0] for name, row in test_readings.TABLES.items()}
TABLES |= {f"suggestions: {name}": row[1] for name, row in test_suggestions.CASES.items()}
TABLES |= {f"public: {name}": frame for name, frame in test_public_layouts.TABLES.items()}
# copa and gsd have most refusals of their own; each other command is tried on a fifth of the tables.
COMMANDS = ("rank", "dominance", "mrm", "portfolio", "check")
CASES = [(name, ("copa", "gsd", COMMANDS[at % 5])) for at, name in enumerate(TABLES)]
CASES += [pytest.param(name, COMMANDS, marks=pytest.mark.slow) for name in TABLES]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@pytest.mark.parametrize(("name", "commands"), CASES)
def test_refusals_name_only_options_that_they_propose(run, tmp_path, name, commands):
    TABLES[name].write_csv(tmp_path / "t.csv")
    for command in commands:
        outcome = run(command, str(tmp_path / "t.csv"), *quick(command))
        assert outcome.status in (0, 2), outcome
        if outcome.status == 0:
            continue
        problem, found, *proposals = outcome.stderr[outcome.stderr.index("error: ") :].splitlines()
        proposed = {*OPTION.findall(" ".join(proposals))}
        unproposed = {*OPTION.findall(f"{problem} {found}")} - proposed
        assert not unproposed, (command, outcome.stderr)


def quick(command):
    """Return options that shorten the computation and read no columns."""
    if command in ("rank", "gsd", "mrm"):
        return ("--no-test",)
    return ("--resamples", "200", "--set", "jobs=1") if command == "dominance" else ()
