"""One answer in promptfoo's results, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskrank.scores.exports.unscored import COLUMN, ERROR, REFUSAL
from riskrank.scores.exports.written_texts import within

_ERROR = 2  # failureReason of a row that ended in an error; 1 is a failed assertion


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer: of a provider to a prompt, on a test."""

    path: Path
    provider: str
    prompt: str
    column: str
    test: str
    row: Mapping[str, Any]

    @property
    def failed(self) -> bool:
        """Whether it ended in an error; `error` also tells of assertions that failed."""
        reason = self.row.get("failureReason")
        if reason is not None:
            return reason == _ERROR
        return bool(self.row.get("error")) and not self.row.get("gradingResult")

    @property
    def unscored(self) -> dict[str, str]:
        """The column that says why a metric has no score, where the row tells it."""
        response = self.row.get("response")
        if isinstance(response, dict) and response.get("isRefusal") is True:
            return {COLUMN: REFUSAL}
        return {COLUMN: ERROR} if self.failed else {}

    @property
    def asked(self) -> object:
        """The prompt with the variables put in; the variables where the row has no prompt."""
        return within(self.row, "prompt", "raw") or self.row.get("vars")

    @property
    def named_scores(self) -> Mapping[str, Any]:
        """Scores of single assertions."""
        found = self.row.get("namedScores")
        return found if isinstance(found, dict) else {}
