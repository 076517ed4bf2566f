"""What a name may do to the log of a build that shows it: nothing.

Who runs a build reads what its steps print, and obeys: ``::error::…`` at the beginning of a line, and
``##[command]``, ``##vso[…]`` or ``##teamcity[…]`` anywhere in it. GitLab's marks begin with a control
character, which is an escape anyway.
"""

import re
from collections.abc import Mapping

# Set by GitHub, GitLab, Azure Pipelines and TeamCity.
_VARIABLES = ("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION")
_OFF = ("", "false", "0")

_FIRST = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_ANYWHERE = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)
# How a format writes a sign that must not stand there; data are read back as they were.
_WRITTEN = {"json": r"\u{:04x}", "jsonl": r"\u{:04x}", "html": "&#{};", "junit": "&#{};"}


def in_a_build(variables: Mapping[str, str]) -> bool:
    """Whether what is printed goes into the log of a build."""
    return any(variables.get(name, "").lower() not in _OFF for name in _VARIABLES)


def for_ci_log(text: str, kind: str = "table") -> str:
    r"""Text of a format that gives no command to who runs a build: ``\x23#[command]``."""
    written = _WRITTEN.get(kind, r"\x{:02x}")
    text = _ANYWHERE.sub(lambda _: written.format(ord("#")), text)
    return _FIRST.sub(lambda match: match[1] + written.format(ord(":")), text)
