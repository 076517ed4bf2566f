"""Final steps of commands with a pass/fail outcome: GitHub annotations, job summary, and exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskrank.cli.environment import Environment

if TYPE_CHECKING:
    from riskrank.studies.document import GatedDocument


def finish_run(document: GatedDocument[Any], environment: Environment) -> None:
    """Annotate a GitHub Actions run, append to its job summary, and raise the error of a failed gate.

    Outside GitHub Actions, only the error is raised.

    Raises
    ------
    RiskrankError
        If the gate did not pass (``document.failed``).
    """
    from riskrank.render.dispatch import build_suite, render_markdown
    from riskrank.render.junit import workflow_annotations

    failed = document.failed
    if environment.variables.get("GITHUB_ACTIONS") == "true":
        for line in workflow_annotations(build_suite(document), failed=failed is not None):
            environment.log(line, command=True)
        summary = environment.variables.get("GITHUB_STEP_SUMMARY")
        try:
            if summary:
                with Path(summary).open("a", encoding="utf-8") as file:
                    file.write(render_markdown(document) + "\n")
        except OSError as error:
            # Not an error, because the summary only repeats the result.
            environment.log(f"warning: cannot write the job summary to {summary}: {error.strerror}")
    if failed is not None:
        raise failed
