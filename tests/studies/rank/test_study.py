"""The study of rankings: places of absolute methods, and bounds of settings."""

from itertools import product

import pytest

from riskrank.errors import UsageError
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank

TAUS = (0.25, 0.6)


@pytest.fixture
def absolute(table, scores):
    """Rows by method and model of FSD(τ) and SSD(τ), and the tests behind each method."""
    names = [
        f"{order}({tau})@{metric}" for metric in ("acc", "f1") for order in ("FSD", "SSD") for tau in TAUS
    ]
    settings = RankSettings(method=tuple(names), resamples=400)
    document = rank(table(scores(gap=1.5)), settings)
    rows = {}
    for row in document.rows:
        rows.setdefault(row.method, {})[row.model] = row
    return document, rows


def test_places_of_absolute_methods_follow_from_tests(absolute):
    document, rows = absolute
    models = document.provenance.models
    count = 0
    for column, study in document.study.studies.items():
        for order, tau in product((1, 2), TAUS):
            name = f"{'FSD' if order == 1 else 'SSD'}({tau})"
            beats = study.tests_for(name).dominates
            assert beats.any()
            for i, model in enumerate(models):
                wins, losses = beats.sum(axis=1), beats.sum(axis=0)
                most_wins = 2 - losses if tau <= 0.5 else 0 * losses + 2
                row = rows[f"{name}@{column}"][model]
                assert row.rank_low == 1 + sum(wins[j] > most_wins[i] for j in range(3))
                assert row.rank_high == 3 - sum(most_wins[j] < wins[i] for j in range(3))
                assert (row.wins, row.losses) == (wins[i], losses[i])
                assert row.rank == 1 + sum(wins > wins[i])
                count += 1
    assert count == 2 * 4 * 3


def test_place_of_clear_winner_is_certain_up_to_tau_half(absolute):
    _, rows = absolute
    strict, lenient = rows["SSD(0.25)@acc"]["A"], rows["SSD(0.6)@acc"]["A"]
    assert (strict.wins, strict.rank, strict.rank_low, strict.rank_high) == (2, 1, 1, 1)
    assert (lenient.wins, lenient.rank, lenient.rank_low, lenient.rank_high) == (2, 1, 1, 3)


@pytest.mark.parametrize("top", [1, 2])
def test_top_limits_rows_per_method(table, top):
    document = rank(table(), RankSettings(no_test=True, top=top))
    full = rank(table(), RankSettings(no_test=True))
    for method in document.study.rankings:
        rows = [row for row in document.rows if row.method == method]
        assert rows == [row for row in full.rows if row.method == method][:top]
        assert len(rows) == top


def test_top_zero_is_refused():
    with pytest.raises(UsageError, match="at least 1"):
        RankSettings(top=0)


def test_stability_repeats_every_size_five_times(table):
    document = rank(table(), RankSettings(no_test=True, stability=(40, 2)))
    assert document.stability.tau.shape[1:] == (2, 5)
    assert (document.stability.tau[:, 1] == 1).all()
    with pytest.raises(UsageError, match="subsample of 41"):
        rank(table(), RankSettings(no_test=True, stability=(41,)))
