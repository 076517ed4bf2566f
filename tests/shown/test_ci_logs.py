"""Names give no command to who runs a build and shows what it prints."""

import pytest

from riskrank.shown.escapes import for_ci_log, in_a_build
from tests.fuzz.oracles import obeyed

COMMANDS = (
    "::error::x",
    "  ::add-mask::x",
    "\u00a0::x",
    "##[error]x",
    "a ##[stop-commands]x",
    "##VSO[task.x]y",
)
COMMANDS += ("##teamcity[x]", "b\n::x", "b\n \t##[x]", "###[x]")
PLAIN = ("a::b", "task::sub::x", "## [x]", "# heading", "##vso", ": :", "#[x]", "##teamcity (x)")


@pytest.mark.parametrize("kind", ["table", "json", "junit"])
@pytest.mark.parametrize("text", COMMANDS)
def test_commands_are_escaped(text, kind):
    assert obeyed(text)
    assert not obeyed(for_ci_log(text, kind))
    assert len(for_ci_log(text, kind)) <= len(text) + 5


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_command_stays(text):
    assert not obeyed(text)
    assert for_ci_log(text) == text


def test_where_a_build_shows_what_is_printed():
    assert in_a_build({"GITHUB_ACTIONS": "true"})
    assert in_a_build({"GITLAB_CI": "true"})
    assert in_a_build({"TF_BUILD": "True"})
    assert in_a_build({"TEAMCITY_VERSION": "2023.11"})
    assert not in_a_build({"GITHUB_ACTIONS": "false", "TF_BUILD": ""})
    assert not in_a_build({})
