"""Wording of verdicts."""

import pytest

from riskrank.studies.wording import detection_limit_sentence, format_percent, method_words, metrics_phrase


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("R-SSD", "second-order dominance"),
        ("R-FSD", "first-order dominance"),
        ("FSD(0.25)", "first-order dominance up to ε 0.25"),
        ("MWR", "MWR"),
        ("RA(R-SSD@M)", "RA(R-SSD@M)"),
    ],
)
def test_methods_of_dominance_in_words(method, words):
    assert method_words(method) == words


@pytest.mark.parametrize(
    ("share", "words"), [(1.0, "100 %"), (0.999, "99.9 %"), (0.95, "95 %"), (0.0123, "1.2 %"), (0.0, "0 %")]
)
def test_shares_in_percent(share, words):
    assert format_percent(share) == words


def test_two_metrics_are_both():
    assert [metrics_phrase(count) for count in (2, 3)] == ["both metrics", "all 3 metrics"]


def test_detection_limits_of_samples_and_tasks():
    """With 24 samples, 8 % is seen with probability 87 %, 1 in 8 with 96 %; with 6 tasks, 40 % with 95 %."""
    assert detection_limit_sentence(24) == "24 independent samples cannot detect events rarer than 1 in 8."
    assert 1 - (1 - 1 / 8) ** 24 > 0.95
    assert (
        detection_limit_sentence(6, "tasks") == "These 6 tasks may miss kinds of tasks rarer than 39 in 100."
    )
    assert 1 - 0.61**6 < 0.95 < 1 - 0.60**6


def test_single_unit_is_singular():
    assert detection_limit_sentence(1, "clusters of samples").startswith(
        "1 independent cluster of samples cannot detect"
    )
    assert detection_limit_sentence(2, "samples").startswith("2 independent samples cannot detect")
