"""Unreadable or empty detail files of lighteval."""

import polars as pl
import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import read

DATE = "2026-08-10T17-22-11.385681"


def test_broken_files_are_refused(tmp_path):
    def details(task, *docs):
        path = tmp_path / "details" / "org" / "m" / DATE / f"details_{task}|0_{DATE}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"doc": {"id": doc, "task_name": f"{task}|0"}, "metric": {"acc": 1}} for doc in docs or ["7"]]
        pl.DataFrame(rows).head(len(docs)).write_parquet(path)
        return path

    details("sums", "7")
    empty, cut = details("none"), details("cut", "7")
    with pytest.raises(InputError, match="a Parquet file with no rows"):
        read("lighteval", empty)
    cut.write_bytes(cut.read_bytes()[:-40])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read("lighteval", cut)
    export = read("lighteval", tmp_path, skip_bad=True)
    assert export.rows.height == 1
    assert sum("ignored" in note for note in export.notes) == 2
