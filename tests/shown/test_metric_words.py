"""Metrics in words: where a page speaks of them, not in what a reader copies."""

import pytest

from riskrank.shown.metric_words import in_words, naming


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mean time_us of a_b", "mean time in µs of a_b"),
        ("first. log_loss decides", "first. Log loss decides"),
        ("acc, log_loss and time_us.", "acc, log loss and time in µs."),
        ("--weight time_us=5 weighs time_us", "--weight time_us=5 weighs time in µs"),
        ("R-SSD@time_us, “time_us”, data/time_us.csv", "R-SSD@time_us, “time_us”, data/time_us.csv"),
        ("my-time_us and time_us_2", "my-time_us and time_us_2"),
    ],
)
def test_metrics_stand_in_words_where_nothing_is_to_be_copied(text, said):
    with naming(["time_us", "log_loss", "acc", "a_b"], models=["a_b"]):
        assert in_words(text) == said
    assert in_words(text) == text
