"""Bulk and compressed samples of lm-eval, and metrics that are not means."""

import gzip
import json

from tests.scores.exports.helpers import read, scores


def row(doc, **metrics):
    return {"doc_id": doc, "doc": {}, "resps": [["r"]], "filter": "none", "metrics": [*metrics], **metrics}


def test_compressed_samples(tmp_path):
    path = tmp_path / "org__a" / "samples_t_2026-01-02T03-04-05.678901.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(json.dumps(row(0, acc=1.0)).encode()))
    assert scores(read("auto", tmp_path)) == {("org/a", "t/0", "acc"): 1.0}
