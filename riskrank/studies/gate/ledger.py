"""Questions to a held-out table, counted in a ledger: at ever smaller levels, nothing told but answers."""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from riskrank.errors import GateInconclusive, InputError, RiskrankError, option
from riskrank.scores.files.contents import read_bytes
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Gated
from riskrank.studies.findings import Finding, stated
from riskrank.studies.gate.document import GateDocument
from riskrank.studies.gate.findings import answered
from riskrank.studies.gate.looks import digests
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import INCONCLUSIVE, PASS
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.sample_findings import LIMITS

SCHEMA = "riskrank/ledger"
_MOST_BYTES = 1 << 24


@dataclass(frozen=True)
class Ledger:
    """The questions so far.

    Attributes
    ----------
    path : str
    table : str
        Digest of the held-out samples and of the old model's scores on them.
    alpha : float
        Level of all questions together.
    questions : sequence of mapping
        ``question``, ``level``, ``claims`` and ``passed`` of each.
    """

    path: str
    table: str
    alpha: float
    questions: Sequence[Mapping[str, Any]] = ()

    @property
    def number(self) -> int:
        """Of the next question, 1 for the first."""
        return len(self.questions) + 1

    @property
    def share(self) -> float:
        """Of the level, for the next question j: 1/(j(j + 1)), which add up to 1 (method §17)."""
        return 1 / (self.number * (self.number + 1))

    def with_answer(self, claims: Sequence[str], *, passed: bool) -> bytes:
        """The ledger with one question more, as a file has it."""
        told = {
            "question": self.number,
            "level": self.alpha * self.share,
            "claims": [*claims],
            "passed": passed,
        }
        asked = replace(self, questions=[*self.questions, told])
        head = {"schema": SCHEMA, "schema_version": "1.0", "table": self.table, "alpha": self.alpha}
        whole = {**head, "digest": asked.digest, "questions": asked.questions}
        return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode("utf-8")

    @property
    def digest(self) -> str:
        """Of the table, the level and every question."""
        return _digest([self.table, self.alpha, *self.questions])


def digest_of_held_out(tables: Sequence[ScoreTable], wanted: Mapping[str, set[int]]) -> str:
    """A digest of the samples, and of the scores of some models by metric: what questions have in common."""
    seen = digests(tables, wanted)
    return _digest([[metric, list(models.values())] for metric, models in sorted(seen.items())])


@contextmanager
def opened(path: str, table: str, alpha: float) -> Iterator[Ledger]:
    """The ledger of a table, for one question at a time.

    Raises
    ------
    InputError
        If another run asks, it is no ledger or has lost a line, is of another table or level, or has ended.
    """
    lock, place = _lock(path), Path(path)
    # What replaces a link leaves the questions it led to uncounted, and one of two names those of the other.
    linked = place.is_symlink() or (place.is_file() and place.stat().st_nlink > 1)
    if linked or (place.exists() and not place.is_file()):
        raise _no_place(
            path,
            "a link" if linked else "no plain file",
            "name the plain file itself, or one that is not there yet",
        )
    try:  # nobody else's file, nor one that a link leads to
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        if place.exists():
            Path(lock).chmod(stat.S_IMODE(place.stat().st_mode) & 0o666)
    except FileExistsError:
        raise InputError(
            f"{option('confirm', path)}: another run is asking",
            found=f"{lock}",
            hint=f"wait for it; if it was killed, remove {lock}",
        ) from None
    except OSError as error:
        raise _no_place(path, error.strerror or str(error)) from None
    try:
        yield _read(path, table, alpha) if place.exists() else Ledger(path, table, alpha)
    finally:
        with suppress(OSError):
            Path(lock).unlink()


def write(path: str, data: bytes) -> None:
    """Write an opened ledger whole or not at all: its lock is filled, and becomes the ledger."""
    lock = Path(_lock(path))
    try:
        lock.write_bytes(data)
        lock.replace(path)
    except OSError as error:
        raise _no_place(path, error.strerror or str(error)) from None


def _no_place(
    path: str, found: str, hint: str = "make room, or name a file in a folder that may be written to"
) -> InputError:
    return InputError(f"{option('confirm', path)}: no ledger can be kept there", found=found, hint=hint)


def _lock(path: str) -> str:
    return f"{path}.lock"


def _read(path: str, table: str, alpha: float) -> Ledger:
    try:
        read = json.loads(read_bytes(path, _MOST_BYTES))
        questions = [dict(one) for one in read["questions"]]
        found = Ledger(path, str(read["table"]), float(read["alpha"]), questions)
        whole = read["schema"] == SCHEMA and read["digest"] == found.digest
        passed = [one["question"] for one in questions if one["passed"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"{option('confirm', path)}: this is no ledger",
            found="no JSON, or not that of a ledger",
            hint="name the file an earlier question wrote, or one that is not there yet",
        ) from None
    level = f"{option('alpha', f'{found.alpha:g}')} in it, {alpha:g} now"
    told = (
        (not whole, "has lost or changed a line", f"{len(questions)} questions, and the digest of others"),
        (found.table != table, "is of another table", "other samples, metrics, or scores of the old model"),
        (found.alpha != alpha, "is of another level", level),
        *((True, "has ended", f"question {one} passed") for one in passed),
    )
    for wrong, what in ((wrong, what) for is_so, wrong, what in told if is_so):
        raise InputError(
            f"{option('confirm', path)}: the ledger {wrong}",
            found=what,
            hint="take it back from where it is kept; or hold out new samples, and begin a ledger of theirs",
        )
    return found


def _digest(what: Any) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True, ensure_ascii=False).encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class ConfirmRow:
    """The answer to one question: whether all of its claims are shown."""

    question: int
    level: float
    claim: str
    verdict: str

    @property
    def name(self) -> str:
        """The claims, as CI servers list them."""
        return self.claim

    @property
    def sentence(self) -> str:
        """The answer in words."""
        shown = "is shown" if self.verdict == PASS else "is not shown"
        return f"question {self.question}, at the level {self.level:.2g}: {self.claim} {shown}"


@dataclass(frozen=True, kw_only=True)
class ConfirmDocument(Gated[ConfirmRow], schema="gate-confirm"):
    """The answer to a question."""

    def meta(self) -> Mapping[str, Any]:
        """The answer."""
        return {"outcome": self.outcome}


# Who shows an answer, given with what counts its question.
HandOut = Callable[[ConfirmDocument, Callable[[], None]], None]


def confirm(
    tables: Sequence[ScoreTable],
    settings: ClaimSettings,
    metrics: Sequence[str],
    decide: Callable[[ClaimSettings], GateDocument],
    hand_out: HandOut | None = None,
) -> ConfirmDocument:
    """Ask one question, and write it into the ledger before anybody hears the answer.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings
    metrics : sequence of str
        Those that claims are about.
    decide : callable
        The gate, of settings at the level of the question.
    hand_out : callable, optional
        Hands out the answer, and calls what counts the question when all is ready to appear.
    """
    path = settings.confirm
    assert path is not None
    pairs = [(name, pair) for name in ("better", "not_worse") for pair in getattr(settings, name)]
    olds = {resolve_pair(pair, tables[0].models, parameter=name)[1] for name, pair in pairs}
    table = digest_of_held_out(tables, dict.fromkeys(metrics, olds))
    with opened(path, table, settings.alpha) as ledger:
        document = decide(replace(settings, alpha=settings.alpha * ledger.share))
        passed = document.outcome == PASS
        claims = list(dict.fromkeys(row.name for row in document.claims))
        row = ConfirmRow(
            ledger.number, settings.alpha * ledger.share, "; ".join(claims), PASS if passed else INCONCLUSIVE
        )
        figures = {"level": row.level, "question": row.question}
        said = answered(row.verdict, f"{row.verdict.upper()}: {row.sentence}.", figures)
        limits = [one for one in document.findings if one.kind in LIMITS]  # which no score decides
        sizes = [
            (Finding(kind=one.kind, on=one.on or "", figures=one.figures), one.sentence) for one in limits
        ]
        answer = ConfirmDocument(
            provenance=replace(document.provenance, warnings=(), scored=(), resamples=None),
            rows=[row],
            **stated((), said, *sizes),
            outcome=row.verdict,
            failed=None if passed else _failed(row),
            inconclusive=None,
            comment=settings.comment,
        )
        count = partial(write, path, ledger.with_answer(claims, passed=passed))
        count() if hand_out is None else hand_out(answer, count)
    return answer


def _failed(row: ConfirmRow) -> RiskrankError:
    following = row.question + 1
    return GateInconclusive(
        "the held-out table does not confirm the claim",
        found=row.sentence,
        hint=f"nothing else is told; question {following} has 1/{following * (following + 1)} of the level",
    )
