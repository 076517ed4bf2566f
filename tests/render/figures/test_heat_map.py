import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import Inference, study_dominance
from riskrank.engine.dominance.inference import Claim
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.render.figures.heat_map import arrange_heat_map, draw_heat_map, format_short_ratio


def verdicts(samples, *, test=False):
    inference = Inference(resamples=300, test=test)
    return study_dominance(ClusteredScores.build(samples), [Claim(2)], inference).tests[0]


def test_models_stand_by_rank(samples):
    tests = verdicts(samples(6), test=True)
    heat_map = arrange_heat_map(tests)
    overall = np.where(np.eye(6, dtype=bool), 0, tests.ratios).sum(axis=1)
    assert np.all(np.diff(overall[heat_map.order]) >= -1e-12)
    for row, i in enumerate(heat_map.order):
        for column, j in enumerate(heat_map.order):
            if i == j:
                assert np.isnan(heat_map.ratios[row, column])
                assert not heat_map.dominates[row, column]
            else:
                assert heat_map.ratios[row, column] == tests.ratios[i, j]
                assert heat_map.dominates[row, column] == tests.dominates[i, j]
    assert heat_map.identical.sum() == 2


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 60, 120])
def test_legible(legible, names, samples, count):
    heat_map = arrange_heat_map(verdicts(samples(count)))
    words = legible(
        lambda: draw_heat_map(heat_map, names(count), "Who is ahead", "R-SSD@P(IC)", tested=False)
    )
    assert words.count("2") in (1, 2)  # the place of the second row, and of the second column where named


def test_a_bare_0_and_1_are_exact():
    tests = verdicts([np.array([1.0, 2, 3]), np.array([0.0, 1, 2]), np.array([0.0, 1.5, 3.2])])
    figure = draw_heat_map(arrange_heat_map(tests), "abc", "ratios", "SSD", tested=False)
    ratios = arrange_heat_map(tests).ratios
    cells, canvas = figure.axes[:2]
    for place in range(3):  # its number stands by its row and below its column
        x, y = canvas.transData.inverted().transform(cells.transData.transform((place, place)))
        row, column = (label.get_position() for label in canvas.texts if label.get_text() == str(place + 1))
        assert (column[0], row[1]) == pytest.approx((x, y))
    for text in figure.axes[0].texts:
        x, y = text.get_position()
        ratio = ratios[round(y), round(x)]
        assert (text.get_text() in ("0", "1")) == (ratio in (0, 1))
        assert float(text.get_text()) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        *((0.0, "0"), (1.0, "1"), (1e-9, "<.01"), (0.00499, "<.01"), (0.0051, ".01"), (0.494, ".49")),
        *((0.9949, ".99"), (0.995, ">.99"), (1 - 1e-12, ">.99"), (0.5, ".50")),
    ],
)
def test_a_cell_shows_only_significant_digits(ratio, text):
    assert format_short_ratio(ratio) == text
