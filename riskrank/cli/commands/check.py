"""``riskrank check``: what a score table holds, and what is wrong with it."""

from __future__ import annotations

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, OutputOptions


@app.command(short_help="Say what a score table holds and what is wrong with it.")
@grouped
def check(context: typer.Context, inputs: InputOptions, output: OutputOptions) -> None:
    """Say what a score table holds (models, samples, metrics, pairing) and what is wrong with it.

    Exits 2 if the commands would refuse to read the table as it is. (Tests also need 10 samples.)
    """
    from riskrank.cli.session import Session, describe_metric, input_settings
    from riskrank.errors import InputError
    from riskrank.report.check import FIELDS, check_meta, check_rows, check_view
    from riskrank.report.document import Provenance, Result
    from riskrank.scores.inspect import inspect_scores

    session = Session(context.obj, inputs, output)
    report = inspect_scores(inputs.scores, session.read_options(), session.environment.stdin)
    session.finish(
        Result(
            provenance=Provenance(
                command="check",
                seed=None,
                resamples=None,
                settings=input_settings(inputs),
                inputs=[vars(entry) for entry in report.inputs],
                models=[model.name for model in report.models],
                metrics=[describe_metric(metric.spec) for metric in report.metrics],
                samples=report.samples,
                warnings=[problem.what for problem in report.problems if problem.severity == "warning"],
                extra=check_meta(report),
            ),
            fields=FIELDS,
            rows=check_rows(report),
            view=check_view(report),
        )
    )
    errors = [problem for problem in report.problems if problem.severity == "error"]
    if errors:
        first, rest = errors[0], len(errors) - 1
        more = f" (and {rest} more problem{'s' if rest > 1 else ''})" if rest else ""
        raise InputError(first.what + more, found=first.found, hint=first.hint)
