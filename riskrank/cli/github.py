"""How a command ends whose exit status is its answer: a run of GitHub Actions is told, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskrank.cli.environment import Environment

if TYPE_CHECKING:
    from riskrank.studies.document import Gated


def end(document: Gated[Any], environment: Environment) -> None:
    """Annotate the run and append to its summary, where there is one, and end with the answer.

    Raises
    ------
    RiskrankError
        What the document ends with.
    """
    from riskrank.render.dispatch import markdown_page, suite_of
    from riskrank.render.junit import notes

    failed = document.failed
    if environment.variables.get("GITHUB_ACTIONS") == "true":
        for line in notes(suite_of(document), failed=failed is not None):
            environment.say(line, command=True)
        summary = environment.variables.get("GITHUB_STEP_SUMMARY")
        try:
            if summary:
                with Path(summary).open("a", encoding="utf-8") as file:
                    file.write(markdown_page(document) + "\n")
        except OSError as error:
            # The result is there already, and the summary only repeats it.
            environment.say(f"warning: no summary in {summary}: {error.strerror}")
    if failed is not None:
        raise failed
