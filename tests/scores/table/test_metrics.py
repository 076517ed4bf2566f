"""Directions, weights, transforms and bounds, from the command line and from a file."""

from dataclasses import replace

import numpy as np
import pytest

from riskrank.errors import UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.names.directions import (
    clearly_lower_is_better,
    has_clear_direction,
    has_uncertain_direction,
    is_metric_name,
    looks_like_a_cost,
    looks_like_an_amount,
    lower_is_likelier,
)
from riskrank.scores.table.metric_specs import MetricSpec, read_metrics_file
from riskrank.scores.table.metrics import oriented_bounds, resolve_metrics, to_original_units
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.targets import portfolio_weights


def test_metrics_file(write):
    path = write(
        "m.toml",
        '[acc]\ndirection = "higher"\nweight = 2\nbounds = [0, 1]\n'
        '[tox]\ntransform = "neg_log"\nscale = "ordinal"\n["top 1.5"]\ndirection = "lower"\n',
    )
    assert read_metrics_file(path) == {
        "acc": MetricSpec(name="acc", direction="higher", declared=True, weight=2.0, bounds=(0.0, 1.0)),
        "tox": MetricSpec(name="tox", transform="neg_log", scale="ordinal"),
        "top 1.5": MetricSpec(name="top 1.5", direction="lower", declared=True),
    }
    assert read_metrics_file(path)["top 1.5"].sign == -1.0
    assert read_metrics_file(path)["acc"].sign == 1.0


COSTS = """loss log_loss logLoss RMSE rmse brier_score BrierScore latency-ms accuracy_cost FPR95 CO2 co2_kg
    elapsed_seconds inferenceTime max_error NLL perplexity toxicity"""
GAINS = "accuracy timeline glossary auc lossless merits rouge1 f1 correct"


@pytest.mark.parametrize(
    "name", [*COSTS.split(), "answer (s)", "reply [ms]", "first token ( \u00b5s )", "use (kWh)"]
)
def test_names_of_costs(name):
    assert looks_like_a_cost(name)


@pytest.mark.parametrize("name", [*GAINS.split(), "correct (share)", "requests (1/s)", "answer(s) right"])
def test_names_of_gains(name):
    assert not looks_like_a_cost(name)


@pytest.mark.parametrize("name", ["minutes_to_resolve", "n_days_until_success"])
def test_counts_until_an_event_are_lower_is_better_if_unclear(name):
    assert (clearly_lower_is_better(name), has_uncertain_direction(name), lower_is_likelier(name)) == (
        False,
        True,
        True,
    )
    assert [*map(clearly_lower_is_better, ("time_to_first_token", "time_to_correct"))] == [True, True]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("MTBF recall@p90 tpr_at_fpr_1 lifetime survival_rate", "more"),
        (
            "cycles_to_failure days_until_relapse Lebensdauer durée_de_vie время_до_отказа",
            "asked, more first",
        ),
        ("error_free cost_savings refusal_accuracy non_toxic on_time_rate bugs_fixed", "asked, more first"),
        ("time_to_crash failure_load lifetime_error life_cycle_cost error_free_latency", "asked, more first"),
        ("failure_rate lifecycle_loss speech_to_text_errors churn mttr deception fail jailbreak", "less"),
        ("brier_score off_topic mean_der p99 neg_log_likelihood Fehlalarmrate", "less"),
        ("harmfulness_score stereotype_score attack_success_rate", "asked, less first"),
        ("asr default_rate hate_rate accuracy_drop reward_hacking f1_toxicity", "asked, less first"),
    ],
)
def test_all_words_of_a_name_set_the_direction(names, expected):
    for name in names.split():
        uncertain = f"asked, {'less' if lower_is_likelier(name) else 'more'} first"
        assert expected == (
            "less"
            if clearly_lower_is_better(name)
            else uncertain
            if has_uncertain_direction(name)
            else "more"
        ), name
        assert is_metric_name(name)
    assert not any(map(is_metric_name, ("librispeech_asr", "Antworten der Modelle", "kid_age", "DROP")))


def test_names_that_leave_no_doubt():
    clear = "accuracy F1 auc bleu rmse brier_score latency_ms co2 price wer"
    doubtful = "score grade toxicity_score refusal_rate time_to_failure points return level"
    assert [*filter(has_clear_direction, f"{clear} {doubtful}".split())] == clear.split()
    assert [*map(clearly_lower_is_better, ("place (1 = best)", "place"))] == [True, False]


def test_amounts_are_not_shares():
    assert [
        name for name in ("price", "cost_usd", "answer (s)", "timeUs") if not looks_like_an_amount(name)
    ] == []
    assert [name for name in ("failures", "error", "toxicity", "acc") if looks_like_an_amount(name)] == []


def test_transform_comes_before_the_direction(write):
    text = "model,sample,metric,score\nA,1,p,0.5\nA,2,p,1\nB,1,p,0.25\nB,2,p,0.125\n"
    path = write("t.csv", text)
    plain = read_scores([path], ReadOptions(metrics_file=write("m.toml", '[p]\ntransform = "neg_log"')))
    np.testing.assert_array_equal(plain.values[0].ravel(), -np.log([0.5, 1.0]))
    assert not np.signbit(plain.values[0]).any()  # no −0: it would not be the same bytes as 0
    np.testing.assert_allclose(plain.raw(1).ravel(), [0.25, 0.125], rtol=1e-15)
    assert plain.warnings == ()
    both = '[p]\ntransform = "neg_log"\ndirection = "lower"'
    flipped = read_scores([path], ReadOptions(metrics_file=write("n.toml", both)))
    np.testing.assert_array_equal(flipped.values[1], -plain.values[1])
    np.testing.assert_allclose(flipped.raw(1).ravel(), [0.25, 0.125], rtol=1e-15)
    assert "larger raw scores are better" in flipped.warnings[0]


def test_portfolio_weights(write, long_frame):
    path = write("t.csv", long_frame)
    np.testing.assert_array_equal(portfolio_weights(read_scores([path])), [0.5, 0.5])
    metrics = write("m.toml", "[loss]\nweight = 1\n[acc]\nweight = 1")
    table = read_scores([path], ReadOptions(metrics_file=metrics, weight={"acc": 3.0}))
    np.testing.assert_array_equal(portfolio_weights(table), [0.75, 0.25])
    table = read_scores([path], ReadOptions(weight={"acc": 3.0}))
    np.testing.assert_array_equal(portfolio_weights(table), [0.75, 0.25])
    table = read_scores([path], ReadOptions(weight="equal"))
    np.testing.assert_array_equal(portfolio_weights(table), [0.5, 0.5])
    table = read_scores([path], ReadOptions(metrics_file=write("n.toml", "[acc]\nweight = 3")))
    with pytest.raises(UsageError, match="some metrics have a weight") as caught:
        portfolio_weights(table)
    assert caught.value.found == "no weight for loss"


def test_oriented_bounds_against_closed_form():
    def bounds(**fields):
        return oriented_bounds(MetricSpec(name="x", **fields))

    assert bounds(bounds=(0, 1)) == (0, 1)
    assert bounds(bounds=(2, 3), direction="lower") == (-3, -2)
    assert str(bounds(bounds=(0, 1), direction="lower")) == "(-1.0, 0.0)"
    assert bounds(bounds=(0.5, 4), transform="neg_log") == pytest.approx((-np.log(4), np.log(2)))
    assert bounds(bounds=(0.5, 4), transform="neg_log", direction="lower") == pytest.approx(
        (-np.log(2), np.log(4))
    )
    low, high = bounds(bounds=(0, 4), transform="neg_log")
    assert low == pytest.approx(-np.log(4))
    assert np.isnan(high)
    assert np.isnan(bounds()).all()


def test_original_units_undo_orientation_and_logarithm():
    specs = [
        MetricSpec(name="x"),
        MetricSpec(name="y", direction="lower"),
        MetricSpec(name="z", transform="neg_log"),
        MetricSpec(name="w", transform="neg_log", direction="lower"),
    ]
    raw = np.array([[1.0, 0.0, 0.5, 4.0], [-2.0, 3.0, 7.0, 0.25]])
    oriented = np.column_stack([raw[:, 0], -raw[:, 1], -np.log(raw[:, 2]), np.log(raw[:, 3])])
    result = to_original_units(oriented, specs)
    np.testing.assert_allclose(result, raw, rtol=1e-15)
    assert not np.signbit(result[0, 1])


def test_declared_directions_override_exported_directions(write):
    path = write("m.toml", '[b]\ndirection = "higher"\n')
    table = {"model": ["A"] * 3, "sample": ["s"] * 3, "metric": list("abc"), "score": [1.0, 2.0, 3.0]}
    scores = read_frame([FrameSource(table)], ReadOptions(metrics_file=path, higher=("c",)))
    notes = replace(scores.notes, directions=dict.fromkeys("abc", "lower"))
    specs, doubts = resolve_metrics(replace(scores, notes=notes))
    assert [(spec.direction, spec.declared) for spec in specs] == [
        ("lower", True),
        ("higher", True),
        ("higher", True),
    ]
    assert not doubts


def test_exports_refuse_an_input_format():
    assert ReadOptions(from_="lm-eval").input_format is None
    with pytest.raises(UsageError, match=r"input_format is for score tables"):
        ReadOptions(from_="lm-eval", input_format="csv")
