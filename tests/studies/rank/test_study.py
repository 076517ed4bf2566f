"""The study of rankings: places of absolute methods in its rows, and bounds of its settings."""

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


def test_places_in_the_rows_of_absolute_methods_are_those_the_tests_leave(absolute):
    document, rows = absolute
    models = document.provenance.models
    looked_at = 0
    for column, study in document.study.studies.items():
        for order, tau in product((1, 2), TAUS):
            name = f"{'FSD' if order == 1 else 'SSD'}({tau})"
            beats = study.tests_of(name).dominates
            assert beats.any()
            for i, model in enumerate(models):
                wins, losses = beats.sum(axis=1), beats.sum(axis=0)
                most = 2 - losses if tau <= 0.5 else 0 * losses + 2
                row = rows[f"{name}@{column}"][model]
                assert row.rank_low == 1 + sum(wins[j] > most[i] for j in range(3))
                assert row.rank_high == 3 - sum(most[j] < wins[i] for j in range(3))
                assert (row.wins, row.losses) == (wins[i], losses[i])
                assert row.rank == 1 + sum(wins > wins[i])
                looked_at += 1
    assert looked_at == 2 * 4 * 3


def test_the_clear_winner_is_known_to_be_first_up_to_one_half_and_not_above(absolute):
    _, rows = absolute
    first, lax = rows["SSD(0.25)@acc"]["A"], rows["SSD(0.6)@acc"]["A"]
    assert (first.wins, first.rank, first.rank_low, first.rank_high) == (2, 1, 1, 1)
    assert (lax.wins, lax.rank, lax.rank_low, lax.rank_high) == (2, 1, 1, 3)


@pytest.mark.parametrize("top", [1, 2])
def test_the_first_of_each_method(table, top):
    document = rank(table(), RankSettings(no_test=True, top=top))
    every = rank(table(), RankSettings(no_test=True))
    for method in document.study.rankings:
        kept = [row for row in document.rows if row.method == method]
        assert kept == [row for row in every.rows if row.method == method][:top]
        assert len(kept) == top


def test_none_at_the_top_is_refused():
    with pytest.raises(UsageError, match="at least 1"):
        RankSettings(top=0)


def test_stability_is_repeated_as_often_as_asked_for(table):
    once = rank(table(), RankSettings(no_test=True, stability=(40, 2), stability_repeats=1))
    assert once.steady.tau.shape[1:] == (2, 1)
    usual = rank(table(), RankSettings(no_test=True, stability="10"))
    assert usual.steady.tau.shape[1:] == (1, 5)
    assert (once.steady.tau[:, 1] == 1).all()
    with pytest.raises(UsageError, match="subsample of 41"):
        rank(table(), RankSettings(no_test=True, stability=(41,)))
