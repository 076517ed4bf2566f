"""What a task of lm-eval asked, and what the model answered: beside the scores of a few documents."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from riskrank.scores.exports.interface import ANSWERED, ASKED, likeliest, within
from riskrank.scores.files.json_objects import as_text

# Fields of a document that hold what is asked, as tasks call them; else the document is shown.
_QUESTIONS = ("question", "query", "problem", "prompt", "input", "instruction", "text")
_SCHEMA = dict.fromkeys(("doc", "filter", ASKED, ANSWERED), pl.String)


def with_texts(frame: pl.DataFrame, rows: Iterable[Mapping[str, Any]], docs: Collection[str]) -> pl.DataFrame:
    """Scores of a sample file with the texts of some documents.

    Parameters
    ----------
    frame : DataFrame
        Columns ``doc`` and ``filter`` among others.
    rows : iterable of mapping
        Lines of the file.
    docs : collection of str
        Documents whose texts are wanted.
    """
    found: dict[tuple[str, str | None], tuple[str, str]] = {}
    for row in rows:
        doc, name = str(row.get("doc_id")), row.get("filter")
        if doc in docs and (name is None or isinstance(name, str)):
            found.setdefault((doc, name), (_asked(row.get("doc")), _answered(row, name)))
    told = [(*key, *texts) for key, texts in found.items()]
    texts = pl.DataFrame(told, schema=_SCHEMA, orient="row")
    named = texts.filter(pl.col("filter").is_not_null())
    if named.height or not texts.height:
        return frame.join(named, on=["doc", "filter"], how="left", maintain_order="left")
    # Before 0.4.5 rows do not name their filter, and all of a document have one answer.
    return frame.join(texts.drop("filter"), on="doc", how="left", maintain_order="left")


def _asked(document: object) -> str:
    fields: Mapping[str, Any] = document if isinstance(document, dict) else {}
    return as_text(next((fields[name] for name in _QUESTIONS if isinstance(fields.get(name), str)), document))


def _answered(row: Mapping[str, Any], name: str | None) -> str:
    """What the filter made of the responses, or the likeliest choice; the responses of no named filter."""
    filtered = row.get("filtered_resps")
    said = row.get("resps") if name is None or filtered is None else filtered
    # Choices are logged as pairs: log-likelihood, and whether it is what the model would have written.
    flat = [
        one[0] if name is None and isinstance(one, list) and len(one) == 1 else one for one in _listed(said)
    ]
    if len(flat) > 1 and all(isinstance(one, list) and len(one) == 2 for one in flat):
        chosen = likeliest([one[0] for one in flat], within(row, "doc", "choices"))
        return as_text(said) if chosen is None else chosen
    return as_text(said)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
