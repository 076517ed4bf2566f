"""The study of ``gsd`` on tables in memory, compared with brute force, closed forms and invariances."""

import itertools
from dataclasses import fields

import numpy as np
import polars as pl
import pytest

from riskrank.options.commands import BY_NAME
from riskrank.options.reading import ReadOptions
from riskrank.render.sections import sections
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.gsd.study import GsdRow, gsd
from riskrank.studies.runtime import Runtime
from tests.cli.test_gsd import UCI, long_table, mixed_table

READ = {field.name for field in fields(ReadOptions)}


LEVELS = {"A": (3, 2, 3, 4, 2, 3), "B": (2, 2, 1, 3, 1, 2), "C": (1, 4, 1, 1, 3, 1)}  # of six samples
ORDINAL = {"higher": ("level",), "ordinal": "level"}
MIXED = {"wide": True, "lower": ("cost",), "higher": ("acc", "grade"), "ordinal": "grade"}


def study(frame, **options):
    """Read a frame and study it; options are passed to the reader or to the settings."""
    reading = {name: value for name, value in options.items() if name in READ}
    settings = {name: value for name, value in options.items() if name not in READ}
    table = read_scores([FrameSource(frame)], ReadOptions(**reading, **BY_NAME["gsd"].needs))
    return gsd(table, GsdSettings(**settings), Runtime(jobs=1))


def by_pair(document, field):
    return {(row.winner, row.loser): getattr(row, field) for row in document.rows}


def brute_force_null(a, b):
    pairs = np.stack([a, b], axis=1)
    for swap in itertools.product((0, 1), repeat=len(a)):
        rows = np.arange(len(a))
        yield brute_force_optimum(pairs[rows, np.array(swap)], pairs[rows, 1 - np.array(swap)])


def brute_force_optimum(a, b):
    """Classical first-order dominance: the up-set with the smallest difference in probability."""
    a, b = np.array(a), np.array(b)
    return min(np.mean(a >= t) - np.mean(b >= t) for t in sorted({*a, *b})[1:])


def test_exact_p_values_against_brute_force():
    document = study(long_table(LEVELS, "level"), **ORDINAL, pairs="all", correction="none")
    for row in document.rows:
        a, b = LEVELS[row.winner], LEVELS[row.loser]
        null = np.array(list(brute_force_null(a, b)))
        observed = brute_force_optimum(a, b)
        assert row.optimum == pytest.approx(observed, abs=1e-9)
        assert row.exact
        assert row.p_value == pytest.approx(np.mean(null >= observed - 1e-9))
        assert row.share_smaller == pytest.approx(np.mean(null < observed - 1e-9))
        assert row.p_adjusted == row.p_value


def test_correction_counts_every_ordered_pair():
    document = study(long_table(LEVELS, "level"), **ORDINAL)
    for row in document.rows:
        if row.p_value is not None:
            assert row.p_adjusted == pytest.approx(min(1, 6 * row.p_value))


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_untested_pairs_are_part_of_the_family(correction):
    """Pairs without dominance in the sample count as p = 1, since the data select them."""
    table = read_scores(
        [str(UCI)],
        ReadOptions(
            metrics_file=str(UCI.with_suffix(".toml")), models=("GBM", "BDS", "CART"), **BY_NAME["gsd"].needs
        ),
    )
    document = gsd(table, GsdSettings(delta=0.00001, correction=correction, resamples=300))
    rows = sorted((row for row in document.rows if row.p_value is not None), key=lambda r: r.p_value)
    p_values = [row.p_value for row in rows] + [1.0] * (6 - len(rows))
    if correction == "holm":
        stepped = [min(1, max(p_values[i] * max(6 - 2 * i, 2) for i in range(at + 1))) for at in range(6)]
    else:
        stepped = [min(1, min(p_values[i] * 6 / (i + 1) for i in range(at, 6))) for at in range(6)]
    assert len(rows) == 3
    assert [row.p_adjusted for row in rows] == pytest.approx(stepped[:3])


@pytest.mark.slow
def test_contamination_against_brute_force():
    a, b = [4, 4, 3, 4, 4, 3, 4, 4, 3, 4], [1, 2, 1, 1, 1, 2, 1, 1, 2, 1]
    table = long_table({"A": a, "B": b}, "level")
    options = {**ORDINAL, "delta": 0.1, "delta_on": "r1", "resamples": 1024}
    document = study(table, **options, contamination=True)
    all_pairs = study(table, **options, pairs="all")
    assert by_pair(all_pairs, "exact")["A", "B"]
    (entry,) = document.meta()["contamination"]
    # Four levels, each at least 0.1 above the next: the optimum by its vertices, u in {0, .1, .2, 1} etc.
    vertices = [np.array([0, low, low + mid, 1]) for low, mid in ((0.1, 0.1), (0.8, 0.1), (0.1, 0.8))]
    pairs = np.stack([a, b], axis=1) - 1
    rows = np.arange(10)
    null = np.array(
        [
            min(float(np.mean(u[pairs[rows, swap]] - u[pairs[rows, 1 - np.array(swap)]])) for u in vertices)
            for swap in map(list, itertools.product((0, 1), repeat=10))
        ]
    )
    observed = null[0]
    expected = [np.mean(null >= observed - 2 * m / (10 - m) - 1e-9) for m in range(len(entry["p_values"]))]
    assert entry["p_values"] == pytest.approx(expected)
    assert entry["p_values"][-1] > 0.05 >= entry["p_values"][-2]
    # Both ordered pairs are the family: Bonferroni doubles.
    significant = [m for m, p in enumerate(expected) if 2 * p <= 0.05]
    assert entry["survives"] == significant[-1] == by_pair(document, "survives")["A", "B"]


def test_front_test_against_brute_force():
    document = study(long_table(LEVELS, "level"), **ORDINAL, front_test="A", contamination=True)
    (front,) = document.meta()["front_tests"]
    for entry in front["competitors"]:
        a, b = LEVELS[entry["model"]], LEVELS["A"]
        null, observed = np.array(list(brute_force_null(a, b))), brute_force_optimum(a, b)
        assert entry["p_value"] == pytest.approx(np.mean(null <= observed + 1e-9))
        assert entry["rejected"] == (entry["p_value"] <= 0.025)
    assert front["p_value"] == max(entry["p_value"] for entry in front["competitors"])
    assert front["in_front"] == (front["p_value"] <= 0.05)


def test_rounding_decides_ties():
    table = long_table({"A": (0.301, 0.5, 0.7), "B": (0.302, 0.5, 0.7)}, "acc")
    options = {"higher": ("acc",), "no_test": True}
    exact = by_pair(study(table, **options), "dominates")
    assert exact == {("A", "B"): False, ("B", "A"): True}
    for rounding in (
        {"digits": 2},
        {"digits": ["acc=2"]},
        {"digits": {"acc": 2}},
        {"tolerance": 0.01},
        {"tolerance": "acc=0.01"},
    ):
        document = study(table, **options, **rounding)
        assert set(by_pair(document, "dominates").values()) == {True}
        assert document.meta()["classes"][0]["models"] == ["A", "B"]
        assert document.meta()["hasse"] == []


def test_regularization_is_a_share_of_the_largest_slack():
    document = study(mixed_table(), **MIXED, regularization=[0, 0.5], no_test=True)
    for row in document.rows:
        assert row.delta == pytest.approx(row.regularization * row.delta_max)
    assert document.meta()["xi"] == min(row.delta_max for row in document.rows)
    unregularized = study(mixed_table(), **MIXED, no_test=True)
    half = {(r.winner, r.loser): r.optimum for r in document.rows if r.regularization == 0}
    assert half == pytest.approx(by_pair(unregularized, "optimum"), abs=1e-8)
    largest = by_pair(study(mixed_table(), **MIXED, no_test=True, delta_on="r1+r2"), "delta_max")
    for pair, slack in largest.items():
        assert slack <= by_pair(unregularized, "delta_max")[pair] + 1e-9


def test_pair_system_ignores_other_models():
    everyone = study(mixed_table(), **MIXED, pairs="all", resamples=50)
    two = study(mixed_table(), **MIXED, pairs="all", resamples=50, models=("A", "C"))
    for field in ("optimum", "p_value"):
        assert by_pair(two, field).items() <= by_pair(everyone, field).items()


def test_equal_repeats_change_nothing():
    single = study(long_table(LEVELS, "level"), **ORDINAL, pairs="all")
    table = long_table(LEVELS, "level").with_columns(draw=1)
    second_draw = table.filter(pl.col("sample") != "s0").with_columns(draw=2)  # s0 keeps a single draw
    draws = {**ORDINAL, "repeats": "draws"}
    repeated = study(pl.concat([table, second_draw]), **draws, pairs="all")
    for field in ("optimum", "p_value"):
        assert by_pair(repeated, field) == by_pair(single, field)
    spread = second_draw.with_columns(score=pl.col("score") + 2)
    document = study(pl.concat([table, spread]), **draws, no_test=True)
    shares = {
        model: [[score] if s == 0 else [score, score + 2] for s, score in enumerate(scores)]
        for model, scores in LEVELS.items()
    }
    for (a, b), optimum in by_pair(document, "optimum").items():

        def above(model, t):
            return np.mean([np.mean(np.array(draws) >= t) for draws in shares[model]])

        levels = {score for model in (a, b) for draws in shares[model] for score in draws}
        worst = min(above(a, t) - above(b, t) for t in sorted(levels)[1:])
        assert optimum == pytest.approx(worst, abs=1e-9)


def test_explanation_undoes_a_logarithm(tmp_path):
    toml = '[acc]\ndirection="higher"\n[cost]\ndirection="higher"\ntransform="neg_log"\n'
    (tmp_path / "m.toml").write_text(toml)
    options = {"wide": True, "metric": ("acc", "cost"), "metrics_file": str(tmp_path / "m.toml")}
    document = study(mixed_table(), **options, no_test=True, witness="B:C")
    vectors = document.meta()["witness"][0]["vectors"]
    printed = sorted({round(v["scores"]["cost"], 9) for v in vectors if v["winner_share"]})
    costs = mixed_table().filter(pl.col("model") == "B")["cost"].unique().sort().to_list()
    assert printed == pytest.approx(costs)


def test_global_digits_apply_to_cardinal_criteria():
    settings = study(mixed_table(), **MIXED, no_test=True, digits=1).provenance.method
    assert settings["digits"] == {"acc": 1, "cost": 1}
    assert settings["ordinal"] == ["grade"]
    assert study(mixed_table(), **MIXED, no_test=True, digits=["1", "cost=0"]).provenance.method[
        "digits"
    ] == {"acc": 1, "cost": 0}


def test_rows_are_typed_and_thresholds_are_unique():
    document = study(mixed_table(), **MIXED, delta=[0, 0.0001, 0], resamples=50)
    assert all(isinstance(row, GsdRow) for row in document.rows)
    assert document.meta()["lps_solved"] == document.lps_solved
    assert sections(document)


def test_a_model_is_not_paired_with_itself():
    relation = study(mixed_table(), **MIXED, no_test=True).analyses[0].relation
    assert not relation.dominates.diagonal().any()
    for numbers in (relation.optimum, relation.slack, relation.largest_slack):
        assert np.isnan(numbers.diagonal()).all()
        assert np.isfinite(numbers[~np.eye(3, dtype=bool)]).all()


def test_draws_fill_an_array_in_order():
    table = pl.concat([long_table(LEVELS, "level"), long_table({"B": (9, 8)}, "level")])
    scores = read_scores([FrameSource(table)], ReadOptions(repeats="draws")).score_array()
    assert scores.shape == (3, 6, 2, 1)
    assert scores[0, :, 0, 0].tolist() == list(LEVELS["A"])
    assert np.isnan(scores[0, :, 1]).all()
    assert scores[1, :2, :, 0].tolist() == [[2, 9], [2, 8]]
    assert np.isnan(scores[1, 2:, 1]).all()


def test_verdict_counts_significant_dominances_only():
    """One sample with A worst of all rules out dominance, whatever the p-value is."""
    rng = np.random.default_rng(1)
    better, worse = rng.integers(4, 9, (24, 3)), rng.integers(1, 6, (24, 3))
    better[0] = 0
    frame = pl.DataFrame(
        [
            {"model": model, "sample": f"s{n:02d}", **dict(zip("xyz", map(int, row), strict=True))}
            for model, scores in (("A", better), ("B", worse))
            for n, row in enumerate(scores)
        ]
    )
    document = study(
        frame,
        wide=True,
        higher=("x", "y", "z"),
        ordinal=["x", "y", "z"],
        pairs="all",
        correction="none",
        resamples=200,
    )
    assert by_pair(document, "p_value")["A", "B"] < 0.05
    assert not by_pair(document, "dominates")["A", "B"]
    assert "No model dominates another in these samples." in document.verdict
