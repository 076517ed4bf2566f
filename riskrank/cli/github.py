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
    from riskrank.render.dispatch import render_markdown, build_suite
    from riskrank.render.junit import workflow_annotations

    failed = document.failed
    if environment.variables.get("GITHUB_ACTIONS") == "true":
        for line in workflow_annotations(build_suite(document), failed=failed is not None):
            environment.say(line, command=True)
        summary = environment.variables.get("GITHUB_STEP_SUMMARY")
        try:
            if summary:
                with Path(summary).open("a", encoding="utf-8") as file:
                    file.write(render_markdown(document) + "\n")
        except OSError as error:
            # The result is there already, and the summary only repeats it.
            environment.say(f"warning: no summary in {summary}: {error.strerror}")
    if failed is not None:
        raise failed
