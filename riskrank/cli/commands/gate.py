"""``riskrank gate``: its exit status is its answer, and CI servers are told."""

from dataclasses import replace
from functools import partial
from inspect import get_annotations

from riskrank.cli.github import end
from riskrank.cli.interrupts import settle_interrupts
from riskrank.cli.session import Session, settled
from riskrank.cli.typer_functions import Call
from riskrank.errors import UsageError, listing, option, spell
from riskrank.options.baseline import BASELINE, GateReading
from riskrank.options.option import options_of
from riskrank.options.values import contradict
from riskrank.render.files import write_all
from riskrank.scores.table.baseline_writer import blessed, read_only_model, require_name
from riskrank.scores.table.metric_tables import metrics_apart, read_selected
from riskrank.scores.table.scores import Scores
from riskrank.studies.gate.claim import NOT_WORSE
from riskrank.studies.gate.claim_list import wanted_metrics
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.study import gate
from riskrank.studies.gate.verdicts import FAIL, PASS


def run(call: Call) -> None:
    """Read the metrics the claims are about, each on the samples it was scored on, and decide."""
    session = Session(call)
    bless = call.values.get("bless")
    if bless is not None:
        if call.reading.judge is not None:
            contradict(option("judge", call.reading.judge), option("bless", bless))
        require_name(bless)
    if call.values.get("comment") and "markdown" not in session.formats:
        raise UsageError(
            "--comment marks Markdown, and nothing is written as Markdown",
            found=f"format {' and '.join(session.formats)}",
            hint="add --output gate.md or --format markdown, or leave out --comment",
        )
    if bless is not None and not _decides(call):
        _only_bless(session, bless)
        return
    end(_decided(session, bless), session.environment)


def _decided(session: Session, bless: str | None) -> GateDocument:
    """Read, decide, and hand the result out."""
    call = session.call
    settings = settled(call)
    with session.runtime() as runtime:
        reading, stdin = replace(call.reading, **settings.needs), session.environment.stdin
        scores = read_selected(call.scores, reading, stdin, baseline=settings.baseline)
        tables = metrics_apart(scores, wanted=partial(wanted_metrics, settings))
        for table in tables:
            session.require_room(table)
        document = gate(tables, settings, runtime)
    if bless is None:
        session.finish(document)
    else:
        _bless(session, document, scores, settings, bless)
    return document


def _decides(call: Call) -> bool:
    """Whether anything is asked of a gate; where nothing is, scores are only blessed."""
    own = get_annotations(ClaimSettings)
    asked = [one for one in options_of(ClaimSettings) if one.name in own and one.name in call.values]
    return any(call.values[one.name] != one.default for one in asked)


def _only_bless(session: Session, path: str) -> None:
    """Keep the scores of the only model, which nobody makes a claim about."""
    call = session.call
    if session.output.output or session.plots:
        raise UsageError(
            f"{option('bless', path)} without a claim decides nothing that could be written",
            found=f"{option('output')} {listing(session.output.output)}",
            hint=f"leave it out, or make a claim: {option('not_worse', 'NEW:OLD')}",
        )
    assert isinstance(call.reading, GateReading)
    scores, model = read_only_model(call.scores, call.reading, session.environment.stdin)
    kept = [(path, blessed(scores, model))]
    write_all(kept, session.environment.stdout, before_rename=settle_interrupts)
    of = f"{len(scores.samples):,} samples, {listing(scores.metrics)}"
    session.say(f"wrote {path}: {model} is blessed as a baseline, unjudged ({of})")


def _bless(
    session: Session, document: GateDocument, scores: Scores, settings: ClaimSettings, path: str
) -> None:
    """Hand the result out, and with it the scores of the new model, if it passed."""
    models = list(dict.fromkeys(row.new for row in document.rows))
    if len(models) > 1 or models == [BASELINE]:
        raise UsageError(
            f"{option('bless')} keeps the scores of one new model",
            found=f"claims about {listing(models)}",
            hint=f"make claims about one, or leave out {option('bless')}",
        )
    if document.outcome != PASS:
        session.finish(document)
        how = "failed" if document.outcome == FAIL else "is inconclusive"
        told = f"{path} is left as it is: the gate {how}, and only a pass is blessed"
    else:
        session.finish(document, beside={path: blessed(scores, models[0])})
        told = f"wrote {path}: {models[0]} passed, and is blessed as a baseline"
        if settings.baseline is not None and any(map(_may_have_lost, document.rows)):
            told += (
                f". Blessed after every pass, losses within {option('margin')} add up: keep one baseline, or "
                f"claim {option('better')}"
            )
    session.environment.say(spell(told, flags=True))


def _may_have_lost(row: GateRow) -> bool:
    """Whether a claim passed that leaves room for a loss within its margin."""
    worst = row.low if row.direction == "higher" else None if row.high is None else -row.high
    return row.claim == NOT_WORSE and row.margin > 0 and (worst is None or worst < 0)
