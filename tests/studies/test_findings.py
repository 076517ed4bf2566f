"""Findings explain every verdict for programs."""

import json

import numpy as np
import pytest

import riskrank as rr
from riskrank.errors import spell

DRAWS = np.random.default_rng(5).normal(size=(3, 60)) + np.array([[0.6], [0.0], [-0.6]])
TABLE = {
    "model": np.repeat(["a", "b", "c"], 60).tolist(),
    "sample": [*range(60)] * 3,
    "q": DRAWS.ravel().tolist(),
    "r": (0.5 * DRAWS + 1).ravel().tolist(),
}
EQUAL = {"model": ["a"] * 30 + ["b"] * 30, "sample": [*range(30)] * 2, "q": DRAWS[1].tolist()}
BOUNDED = (DRAWS > 0).astype(float).ravel().tolist()
OPTIONS = {"wide": True, "higher": "*"}
EXAMPLES = {
    "rank": lambda: rr.rank(TABLE, **OPTIONS, jobs=1, resamples=100),
    "dominance": lambda: rr.dominance(TABLE, **OPTIONS, jobs=1, resamples=100),
    "two": lambda: rr.dominance(TABLE, **OPTIONS, jobs=1, resamples=100, models=["a", "b"], metric=["q"]),
    "equal": lambda: rr.dominance(EQUAL, **OPTIONS, jobs=1, resamples=100),
    "by-metric": lambda: rr.dominance(TABLE, **OPTIONS, jobs=1, resamples=100, per_metric=True),
    "mrm": lambda: rr.mrm(TABLE, **OPTIONS, jobs=1, resamples=100),
    "gsd": lambda: rr.gsd(TABLE, **OPTIONS, jobs=1, resamples=20, digits=1, metric=["q"]),
    "copa": lambda: rr.copa(TABLE, **OPTIONS),
    "untested": lambda: rr.copa(TABLE, **OPTIONS, no_test=True),
    "trend": lambda: rr.trend([TABLE, TABLE | {"q": TABLE["r"]}], **OPTIONS, jobs=1),
    "gate": lambda: rr.gate(TABLE, **OPTIONS, jobs=1, better=["a:b", "b:a"], resamples=100),
    "anytime": lambda: rr.gate(TABLE | {"q": BOUNDED}, **OPTIONS, metric=["q"], better="a:b", anytime=True),
    "power": lambda: rr.power(TABLE, **OPTIONS, jobs=1, metric=["q"], simulations=5, variance="clt"),
    "plan": lambda: rr.power("a=bernoulli:0.9", "b=bernoulli:0.5", simulations=5, variance="clt"),
    "diff": lambda: rr.diff(TABLE, **OPTIONS, pair="a:b"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_verdict_consists_of_findings(name):
    result = EXAMPLES[name]()
    findings = json.loads(result.to_json())["meta"]["findings"]
    assert findings
    texts = [spell(text, flags=True) for text in (result.document.verdict, *result.document.more)]
    sentences = [
        finding["sentence"]
        for finding in findings
        if finding["sentence"] and finding["kind"] != "detection-limit"
    ]
    assert texts[0].startswith(sentences[0])
    texts += [f"{line[0].upper()}{line[1:]}." for line in result.document.provenance.warnings]
    undetectable = [finding for finding in findings if finding["kind"] == "detection-limit"]  # in captions
    screen = " ".join(repr(result).split())
    assert len(undetectable) <= 1
    assert all(
        finding["sentence"] in texts[0] or f"cannot detect events rarer than 1 in {limit:,}" in screen
        for finding in undetectable
        for limit in [finding["figures"]["effective_size"] // 3]
    )
    assert all(any(sentence in text for text in texts) for sentence in sentences)
    for finding in findings:
        assert set(finding["models"]) <= {"a", "b", "c"}
        assert len(set(finding["models"])) == len(finding["models"])
        assert finding["answer"] in (None, "significant", "contradicted", "undecided")


STUDIES = {
    "rank": lambda table: rr.rank(table, **OPTIONS, jobs=1, resamples=100),
    "rank-metrics": lambda table: rr.rank(table, **OPTIONS, jobs=1, resamples=100, per_metric=True),
    "untested": lambda table: rr.rank(table, **OPTIONS, no_test=True),
    "dominance": lambda table: rr.dominance(table, **OPTIONS, jobs=1, resamples=100),
    "dominance-metrics": lambda table: rr.dominance(table, **OPTIONS, jobs=1, resamples=99, per_metric=True),
    "mrm": lambda table: rr.mrm(table, **OPTIONS, jobs=1, resamples=100),
    "mrm-metrics": lambda table: rr.mrm(table, **OPTIONS, jobs=1, resamples=100, per_metric=True),
    "gsd": lambda table: rr.gsd(table, **OPTIONS, no_test=True, metric=["q"]),
    "copa": lambda table: rr.copa(table, **OPTIONS, resamples=100),
    "gate": lambda table: rr.gate(table, **OPTIONS, jobs=1, resamples=100, better="a:b"),
    "gate-shown": lambda table: rr.gate(
        table, **OPTIONS, jobs=1, resamples=100, not_worse="a:b", margin=[("q", 1.5), ("r", 1.5)]
    ),
}


@pytest.mark.parametrize(("name", "models"), [*((name, 3) for name in STUDIES), ("rank", 2), ("gate", 2)])
def test_equal_distributions_are_reported_by_all_commands(name, models):
    scores = {metric: np.tile(DRAWS[row], models) for row, metric in enumerate("qr")}
    if models == 3:  # equal joint distributions, in another order of samples
        scores = {metric: np.append(values[:120], values[:60][::-1]) for metric, values in scores.items()}
    table = {"model": np.repeat(["a", "b", "c"][:models], 60).tolist(), "sample": [*range(60)] * models}
    document = STUDIES[name](table | {metric: values.tolist() for metric, values in scores.items()}).document
    (finding,) = (item for item in document.findings if item.kind == "same-distribution")
    assert set(finding.models) == ({"a", "b"} if name.startswith("gate") else {*"abc"[:models]})
    assert finding.sentence in " ".join((document.verdict, *document.more))
    scores["q"][0] += 1e-3
    document = STUDIES[name](table | {metric: values.tolist() for metric, values in scores.items()}).document
    assert "same-distribution" not in {item.kind for item in document.findings}


@pytest.mark.parametrize("name", [name for name in STUDIES if not name.startswith("gate")])
def test_models_with_equal_rows_are_named(name):
    def document_of(scores):
        table = {"model": np.repeat(["a", "b", "c"], 60).tolist(), "sample": [*range(60)] * 3}
        table |= {"q": scores.ravel().tolist(), "r": (2 * scores).ravel().tolist()}
        return STUDIES[name](table).document

    scores = DRAWS.copy()
    scores[2] = scores[0]
    document = document_of(scores)
    (entry,) = (finding for finding in document.findings if finding.kind == "same-scores")
    assert tuple(entry.models) == ("a", "c")
    assert (entry.sentence or "(same distribution of scores)") in " ".join((document.verdict, *document.more))
    scores[2, 7] += 1e-3
    assert "same-scores" not in {finding.kind for finding in document_of(scores).findings}


def test_identical_models_get_no_sample_size():
    result = rr.gate(EQUAL | {"q": [*DRAWS[1, :30]] * 2}, **OPTIONS, jobs=1, resamples=100, better="a:b")
    assert "no feasible number of samples would decide it; " in " ".join(repr(result).split())
    assert "more samples" not in repr(result)


def test_findings_hold_the_figures_of_sentences():
    two = {finding.kind: finding for finding in EXAMPLES["two"]().document.findings}
    assert [*two["ahead"].models] == ["a", "b"]
    assert two["ahead"].answer == "significant"
    assert two["mean"].figures["difference"] == pytest.approx(DRAWS[0].mean() - DRAWS[1].mean())
    for name, scores in (("tail", DRAWS[0]), ("against", DRAWS[1])):
        counts = np.clip(60 * two["tail"].figures["level"] - np.arange(60), 0, 1)  # the last one partly
        assert two["tail"].figures[name] == pytest.approx(counts @ np.sort(scores) / counts.sum())
    ranked = {
        finding.kind: finding for finding in rr.rank(TABLE, **OPTIONS, jobs=1, metric=["q"]).document.findings
    }
    gain = ranked["gain"].figures
    assert gain["low"] < gain["q"] < gain["high"]
    gain = {finding.kind: finding for finding in EXAMPLES["mrm"]().document.findings}["gain"].figures
    assert gain["value_low"] < gain["value"] < gain["value_high"]
    changed = {finding.kind: finding for finding in EXAMPLES["diff"]().document.findings}["changed"]
    assert changed.figures["worse"] == (DRAWS[0] < DRAWS[1]).sum()
    assert changed.figures["better"] == (DRAWS[0] > DRAWS[1]).sum()
    assert changed.answer == "significant"


def test_a_hidden_risk_has_its_figures():
    base = np.random.default_rng(1).normal(size=240)
    rare = np.where(np.arange(240) % 12, 0.0, -13.5)
    scores = {"a": 0.2 * base + 0.5, "b": 0.2 * base[::-1] + 0.45, "wild": 0.2 * base + 1.75 + rare}
    table = {"model": np.repeat([*scores], 240).tolist(), "sample": [*range(240)] * 3}
    document = rr.rank(table | {"q": np.concatenate([*scores.values()]).tolist()}, **OPTIONS, jobs=1).document
    (finding,) = (item for item in document.findings if item.kind == "best-mean-hides-risk")
    worst = {
        name: np.sort(values)[: round(240 * finding.figures["level"])].mean()
        for name, values in scores.items()
    }
    assert finding.figures["tail"] == pytest.approx(worst["wild"])
    assert finding.figures["against"] in (pytest.approx(worst["a"]), pytest.approx(worst["b"]))


def test_gate_names_a_significant_loss_first():
    rng = np.random.default_rng(2)
    scores = {"model": ["new"] * 60 + ["old"] * 60, "sample": [*range(60)] * 2}
    scores |= {
        "q": rng.normal(size=120).tolist(),
        "r": (rng.normal(size=120) - np.repeat([1, 0], 60)).tolist(),
    }
    result = rr.gate(
        scores, **OPTIONS, jobs=1, resamples=200, not_worse="new:old", margin=[("q", 0.1), ("r", 1)]
    )
    deciding = {finding.kind: finding for finding in result.document.findings}["deciding"]
    assert (deciding.on, deciding.answer) == ("r", "undecided")
    assert "worse than old on r, possibly by more than 1" in deciding.sentence


@pytest.mark.parametrize("command", [rr.rank, rr.dominance, rr.mrm])
def test_best_mean_is_named_if_another_model_leads(command):
    """Four models; the last leads by far, except on one sample in twelve."""
    base = 0.2 * np.random.default_rng(1).normal(size=60)
    rare = np.where(np.arange(60) % 12, 0.0, -13.5)
    models = {"a": base + 0.5, "b": base + 0.45, "c": base + 0.4, "wild": base + 1.75 + rare}
    table = {"model": np.repeat([*models], 60).tolist(), "sample": [*range(60)] * 4}
    table |= {"q": np.concatenate([*models.values()]).tolist()}
    result = command(table, **OPTIONS, no_test=True)
    (finding,) = (
        item for item in json.loads(result.to_json())["meta"]["findings"] if item["kind"] == "best-mean"
    )
    assert finding["models"] == ["wild", "a"]
    assert "wild has the best mean" in result.verdict
    assert "0.62 against 0.49" in result.verdict
