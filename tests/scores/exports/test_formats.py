"""Special cases of single formats: lighteval, lm-eval and FastChat."""

import gzip
import json

import polars as pl
import pytest

from riskrank.engine.portfolio.judge_votes import score_votes
from riskrank.errors import InputError
from tests.scores.exports.helpers import read, scores, write_lines

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


def row(doc, **metrics):
    return {"doc_id": doc, "doc": {}, "resps": [["r"]], "filter": "none", "metrics": [*metrics], **metrics}


def test_compressed_samples(tmp_path):
    path = tmp_path / "org__a" / "samples_t_2026-01-02T03-04-05.678901.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(json.dumps(row(0, acc=1.0)).encode()))
    assert scores(read("auto", tmp_path)) == {("org/a", "t/0", "acc"): 1.0}


def test_win_rates_equal_verdict_scores(tmp_path):
    """With all pairs played, s = 4 (k − 1)(w − ½)."""
    models, outcome = "ABCD", {"AB": "model_1", "AC": "tie", "AD": "model_2", "BC": "model_2"}
    rows, verdicts = [], []
    for sample in ("7", "8"):
        for first in models:
            for second in models[models.index(first) + 1 :]:
                winner = outcome.get(first + second, "model_1" if sample == "7" else "tie")
                names = {"model_1": first, "model_2": second, "g1_winner": winner, "g2_winner": winner}
                rows.append({"question_id": sample, "turn": 1, "judge": ["gpt-4", "pair-v2"]} | names)
                verdicts.append((f"{sample}/1", first, second, winner.replace("model_1", "a")))
    export = read("mt-bench", write_lines(tmp_path / "p.jsonl", rows))
    samples, first, second, winners = zip(*verdicts, strict=True)
    expected = score_votes(samples, first, second, [v.replace("model_2", "b") for v in winners])
    for at, sample in enumerate(expected.samples):
        for i, model in enumerate(expected.models):
            rate = scores(export)[model, sample, "win_rate"]
            assert expected.scores[at, i] == pytest.approx(4 * 3 * (rate - 0.5))
    assert not export.notes
