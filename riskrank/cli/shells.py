"""What Typer's completion leaves out: words that bash breaks, and the first Tab of zsh.

bash breaks words at ``:``, ``=`` and ``@``, and asks about what stands behind: of ``new:o`` about ``o``. zsh
runs a completion that it finds in a folder when Tab is first pressed, and expects an answer of that run, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from typer import _completion_classes, _completion_shared

_BREAKS = re.compile("[:=@]+")

_LATER = "\ncompdef %(complete_func)s %(prog_name)s\n"
_NOW_OR_LATER = """
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  %(complete_func)s "$@"
else
  compdef %(complete_func)s %(prog_name)s
fi
"""


def together(words: Iterable[str]) -> list[str]:
    """Words as they were typed, of those that bash made of them."""
    whole: list[str] = []
    behind = False
    for word in words:
        broken = _BREAKS.fullmatch(word) is not None
        if whole and (broken or behind):
            whole[-1] += word
        else:
            whole.append(word)
        behind = broken
    return whole


class WholeWords(_completion_classes.BashComplete):
    """Completes whole words, and answers with the part of them that bash asked about."""

    _known = 0

    def get_completion_args(self) -> tuple[list[str], str]:
        """Words before the one to complete, and that one."""
        before, asked = super().get_completion_args()
        *words, last = together([*before, asked])
        # Of --models=a what is completed is the value.
        value = last.partition("=")[2] if last.startswith("-") and "=" in last else last
        self._known = len(value) - (0 if _BREAKS.fullmatch(asked) else len(asked))
        return words, last

    def format_completion(self, item: _completion_classes.CompletionItem) -> str:
        """What is offered, without what bash has already."""
        return super().format_completion(item)[self._known :]


def mend_completion() -> None:
    """Let Typer write and answer completions so."""
    zsh = _completion_shared.COMPLETION_SCRIPT_ZSH.replace(_LATER, _NOW_OR_LATER)
    _completion_shared._completion_scripts["zsh"] = zsh
    _completion_classes.ZshComplete.source_template = zsh
    _completion_classes.BashComplete = WholeWords  # type: ignore[misc]
