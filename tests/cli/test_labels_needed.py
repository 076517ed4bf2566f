"""How many labels a gate and a plan ask for where a judge scored all samples: never more than there are."""

import re

import numpy as np
import pytest

from tests.cli.test_judge import BOTH, labelled


def two_models(write, *, samples, labels, ahead, sign, noise, seed=0):
    """People's scores of a new and an old model, and a judge that follows them or goes against them."""
    draws = np.random.default_rng(seed)
    rows = ["model,sample,people,judge"]
    for model, mean in (("new", ahead), ("old", 0.0)):
        people = mean + draws.normal(size=samples)
        judge = sign * people + draws.normal(0, noise, samples)
        rows += [f"{model},{i},{people[i] if i < labels else ''},{judge[i]}" for i in range(samples)]
    return write("two.csv", "\n".join(rows) + "\n")


def test_a_gate_asks_for_no_more_labels_than_there_are(run, write):
    """Beyond N samples the judge's part of the variance would hurt: thousands of labels were asked for."""
    path = two_models(write, samples=300, labels=100, ahead=0.0, sign=1, noise=0.7)
    call = ("gate", path, *BOTH[1:], "--not-worse", "new:old", "--margin", "0.2")
    result = run(*call, "--format", "json")
    assert result.status == 4
    assert result.document["results"][0]["samples_needed"] is None
    never = "o number of labels of these 300 samples would"
    assert f" N{never} decide that (normal approximation)." in result.document["meta"]["verdict"]
    assert f"hint: n{never} decide it; --margin" in result.stderr
    told = " ".join(run(*call, "--inconclusive", "pass").stdout.split())
    assert f"To decide: more samples, as n{never} do, or a --margin that does not" in told
    assert "matter (--inconclusive pass counts them as pass)." in told


def test_a_gate_asks_for_labels_that_there_are(run):
    result = run("gate", *BOTH, "--not-worse", "wordy:tuned", "--margin", "0.1", "--format", "json")
    needed = result.document["results"][0]["samples_needed"]
    assert 150 < needed <= 598
    told = int(re.search("About (.*) labels would decide that", result.document["meta"]["verdict"])[1])
    assert needed <= told <= min(600, needed + 100)
    assert "No number" not in result.document["meta"]["verdict"]


def test_of_several_open_claims_those_that_no_label_decides_are_counted(run):
    claims = ("--not-worse", "base:wordy", "--not-worse", "wordy:base", "--margin", "0.1")
    told = " ".join(run("gate", *BOTH, *claims).stdout.split())
    assert "no number of labels of these 600 samples would do for 1 of them, or a --margin" in told


@pytest.mark.parametrize("on", ["tvar@0.25", "ssd", "fsd"])
def test_labels_are_worth_something_to_means_only(run, on):
    """What they are worth to a difference of means was said of tails, where it is far off."""
    call = ("gate", *BOTH, "--better", "tuned:small", "--format", "json", "--on")
    meta, means = run(*call, on).document["meta"], run(*call, "mean").document["meta"]
    assert "with the judge tell as much" not in meta["verdict"]
    assert (meta["judge"]["worth_low"], meta["judge"]["worth_high"]) == (None, None)
    assert means["judge"]["worth_low"] > 150
    both = run(*call, on, "--on", "mean").document["meta"]
    assert both["judge"]["worth_high"] == means["judge"]["worth_high"]
    assert "150 labels with the judge tell as much of a difference as" in both["verdict"]


@pytest.mark.parametrize("seed", range(3))
def test_a_judge_of_which_nothing_is_taken_saves_no_labels(run, write, seed):
    """At λ = 0 labels alone are what is simulated, whatever power the size found happens to have."""
    path = two_models(write, samples=600, labels=150, ahead=0.4, sign=-1, noise=1.0, seed=seed)
    found = run("power", path, *BOTH[1:], "--simulations", "61", "--format", "json").document["meta"]
    required = found["required_labels"]
    assert required["power"] != required["target"]
    assert required["without_judge"] == required["size"]
    assert "without the judge" not in found["verdict"]


def test_one_label_is_one_score(run, write):
    assert "1 human score a model is too few" in run("rank", labelled(write, 1), *BOTH[1:]).stderr
    assert "2 human scores a model are too few" in run("rank", labelled(write, 2), *BOTH[1:]).stderr
