"""Bulk and compressed samples of lm-eval, and metrics that are not means."""

import gzip
import json
import math

import numpy as np
import pytest

from riskrank.scores.exports.lm_eval_rows import aggregate
from tests.scores.exports.helpers import read, scores, write_lines


def row(doc, **metrics):
    return {"doc_id": doc, "doc": {}, "resps": [["r"]], "filter": "none", "metrics": [*metrics], **metrics}


def test_bulk_reader_equals_row_reader(tmp_path):
    path = tmp_path / "org__a" / "samples_t_2026-01-02T03-04-05.678901.jsonl"
    rows = [row(i, acc=0.1 * i, f1=i) for i in range(20)]
    fast = read("lm-eval", write_lines(path, rows)).rows.sort("metric", "sample")
    slow = read("lm-eval", write_lines(path, [*rows, row(99, acc=True, f1=False)])).rows.sort(
        "metric", "sample"
    )
    assert fast.equals(slow.filter(slow["sample"] != "t/99"))


def test_compressed_samples(tmp_path):
    path = tmp_path / "org__a" / "samples_t_2026-01-02T03-04-05.678901.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(json.dumps(row(0, acc=1.0)).encode()))
    assert scores(read("auto", tmp_path)) == {("org/a", "t/0", "acc"): 1.0}


PAIRS = [[1, 1], [1, 0], [0, 0], [1, 1], [0, 1], [0, 0], [1, 1]]
TEXTS = [[-31.5, 12], [-8.25, 3], [-60.125, 25]]
NATS = 99.875 / 40


@pytest.mark.parametrize(
    ("metric", "values", "expected"),
    [
        # Three right and wrong each way: Pearson's correlation of the two columns is Matthews'.
        ("mcc", PAIRS, np.corrcoef(np.array(PAIRS).T)[0, 1]),
        ("word_perplexity", TEXTS, math.exp(NATS)),
        ("byte_perplexity", TEXTS, math.exp(NATS)),
        ("bits_per_byte", TEXTS, NATS / math.log(2)),
    ],
)
def test_metrics_that_are_not_means_are_noted(tmp_path, metric, values, expected):
    path = tmp_path / "org__a" / "samples_t_2026-01-02T03-04-05.678901.jsonl"
    rows = [row(at, acc=1, **{metric: value}) for at, value in enumerate(values)]
    (text,) = (note for note in read("lm-eval", write_lines(path, rows)).notes if "not as a mean" in note)
    assert text.startswith(f"t: {metric} is ")
    assert float(text.split(" is ")[1].split(" for ")[0]) == pytest.approx(expected, rel=1e-12)


def test_matthews_correlation_of_three_classes():
    pairs = [[0, 0], [1, 2], [2, 2], [1, 1], [2, 0], [0, 0], [1, 1]]
    # The correlation of indicators of classes, centred.
    gold, predicted = (np.eye(3)[[pair[at] for pair in pairs]] for at in (0, 1))
    gold, predicted = gold - gold.mean(0), predicted - predicted.mean(0)
    expected = (gold * predicted).sum() / math.sqrt((gold**2).sum() * (predicted**2).sum())
    assert aggregate("mcc", pairs) == pytest.approx(expected, rel=1e-12)
    assert aggregate("mcc", [[1, 1], [1, 1]]) == 0.0


@pytest.mark.parametrize(
    "values", [[[1]], [[1, "a"]], [[1, 0], 3], [[True, 1]], [], [[-1.0, 0.0]], [[-1e6, 1]]]
)
def test_invalid_pairs_have_no_aggregate(values):
    assert aggregate("word_perplexity", values) is None
    assert aggregate("acc", [[1, 0]]) is None
