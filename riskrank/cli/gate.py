"""Commands with a pass/fail outcome: ``gate`` and ``trend``.

The exit status reports the outcome, for example to CI servers. GitHub Actions also get annotations and a job
summary.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from inspect import get_annotations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskrank.cli.environment import Environment
from riskrank.cli.interrupts import ignore_interrupts
from riskrank.cli.options import Call
from riskrank.cli.session import Session, checked_settings
from riskrank.errors import UsageError, listing, option, spell
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.options.option import options_of
from riskrank.options.values import contradict
from riskrank.render.files import write_all
from riskrank.scores.table import gate_inputs
from riskrank.scores.table.scores import Scores
from riskrank.studies.gate.claim import NOT_WORSE
from riskrank.studies.gate.claim_list import select_metrics
from riskrank.studies.gate.document import GateDocument
from riskrank.studies.gate.options import ClaimSettings, add_default_claim
from riskrank.studies.gate.study import gate
from riskrank.studies.gate.verdicts import FAIL, PASS
from riskrank.studies.runtime import try_study

if TYPE_CHECKING:
    from riskrank.studies.document import GatedDocument


def run_gate(call: Call) -> None:
    """Test the claims and, if requested, save the new scores as a baseline."""
    scores, values, claim = add_default_claim(call.scores, call.values)
    if not call.values.get("bless") or call.values.get("baseline"):
        call = replace(call, scores=scores, values=values)
    session = Session(call)
    if claim and call.scores == scores:
        better = option("better", claim)
        session.log(spell(f"Claim: {option('not_worse', claim)}. Use {better} to claim a gain", flags=True))
    bless = call.values.get("bless")
    if bless is not None:
        if call.reading.judge is not None:
            contradict(option("judge", call.reading.judge), option("bless", bless))
        gate_inputs.require_parquet_name(bless)
    if call.values.get("comment") and "markdown" not in session.formats:
        problem = "--comment needs Markdown output"
        hint = "add --output gate.md or --format markdown, or leave out --comment"
        raise UsageError(problem, found=f"format {' and '.join(session.formats)}", hint=hint)
    names = get_annotations(ClaimSettings)
    claims = [opt for opt in options_of(ClaimSettings) if opt.name in names and opt.name in call.values]
    if bless is not None and all(call.values[opt.name] == opt.default for opt in claims):
        _save_baseline_without_claims(session, bless)
        return
    _finish_run(_test_claims(session, bless), session.environment)


def _test_claims(session: Session, bless: str | None) -> GateDocument:
    """Read the tables, test the claims, write the result, and return the document."""
    call = session.call
    settings = checked_settings(call)
    with session.runtime() as runtime:
        reading, stdin = replace(call.reading, **settings.needs), session.environment.stdin
        trial, baseline = partial(try_study, gate, settings), settings.baseline
        scores = gate_inputs.read_selected(call.scores, reading, stdin, trial, baseline=baseline)
        tables = gate_inputs.tables_by_metric(scores, choose=partial(select_metrics, settings))
        for table in tables:
            session.check_memory(table)
        document = gate(tables, settings, runtime)
    if bless is None:
        session.finish(document)
    else:
        _bless_if_passed(session, document, scores, settings, bless)
    return document


def _save_baseline_without_claims(session: Session, path: str) -> None:
    """Save the scores of the only model as a baseline, without testing claims."""
    call = session.call
    if session.output.output or session.plots:
        problem = f"{option('bless', path)} without a claim has no result to write"
        hint = f"leave out the output, or add a claim: {option('not_worse', 'NEW:OLD')}"
        raise UsageError(problem, found=f"{option('output')} {listing(session.output.output)}", hint=hint)
    assert isinstance(call.reading, GateReading)
    scores, model = gate_inputs.read_model(call.scores, call.reading, session.environment.stdin)
    files = [(path, gate_inputs.baseline_bytes(scores, model))]
    write_all(files, session.environment.stdout, before_rename=ignore_interrupts)
    contents = f"{len(scores.samples):,} samples, {listing(scores.metrics)}"
    session.log(f"wrote {path}: baseline with the scores of {model}; no claim was tested ({contents})")


def _bless_if_passed(
    session: Session, document: GateDocument, scores: Scores, settings: ClaimSettings, path: str
) -> None:
    """Write the result, and save the new model's scores as a baseline if the gate passed."""
    models = list(dict.fromkeys(row.new for row in document.rows))
    if len(models) > 1 or models == [BASELINE]:
        problem = f"{option('bless')} needs a single new model"
        hint = f"use claims about one new model, or leave out {option('bless')}"
        raise UsageError(problem, found=f"claims about {listing(models)}", hint=hint)
    if document.outcome != PASS:
        session.finish(document)
        outcome = "failed" if document.outcome == FAIL else "is inconclusive"
        message = f"{path} is unchanged: the gate {outcome}, and only a pass updates the baseline"
    else:
        session.finish(document, extra_files={path: gate_inputs.baseline_bytes(scores, models[0])})
        message = f"wrote {path}: {models[0]} passed and is the new baseline"
        # Lower limits of the passed differences in the direction that is better.
        limits = [
            row.low if row.direction == "higher" else None if row.high is None else -row.high
            for row in document.rows
            if row.claim == NOT_WORSE and row.margin > 0
        ]
        if settings.baseline is not None and any(limit is None or limit < 0 for limit in limits):
            message += f". Losses smaller than {option('margin')} add up if every pass updates the baseline: "
            message += f"keep one baseline, or claim {option('better')}"
    session.environment.log(spell(message, flags=True))


def run_trend(call: Call) -> None:
    """Read one file per run, compare the runs, and set the exit status."""
    from riskrank.scores.table.runs import read_runs
    from riskrank.studies.trend.study import trend

    session, settings = Session(call), checked_settings(call)
    stdin = session.environment.stdin
    runs = read_runs(call.scores, call.reading, stdin, baseline=settings.baseline, anchors=settings.anchors)
    document = trend(runs, settings)
    session.finish(document)
    _finish_run(document, session.environment)


def _finish_run(document: GatedDocument[Any], environment: Environment) -> None:
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
