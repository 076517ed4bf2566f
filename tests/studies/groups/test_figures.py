import numpy as np
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores
from riskrank.shown.figures.catalogue import draw, pictures
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.dominance.study import dominance
from riskrank.studies.groups.figures import group_ranks
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.mrm.study import mrm
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank


def table(names, groups):
    rng = np.random.default_rng(3)
    rows = [
        (model, f"{group}/{n}", group, rng.normal(3 * place if group != groups[-1] else -3 * place))
        for place, model in enumerate(names)
        for group in groups
        for n in range(12)
    ]
    columns = zip(("model", "sample", "kind of task", "acc"), zip(*rows, strict=True), strict=True)
    source = FrameSource({name: list(values) for name, values in columns})
    return read_scores([source], ReadOptions(wide=True, group_by="kind of task", higher=("acc",)))


@pytest.mark.parametrize(
    ("study", "settings", "method"),
    [
        (rank, RankSettings(no_test=True), "R-SSD@acc"),
        (dominance, DominanceSettings(no_test=True), "SSD@acc"),
        (mrm, MeanRiskSettings(no_test=True), "RA(MRM@acc)"),
    ],
)
def test_ranks_of_all_samples_and_of_each_group(study, settings, method):
    document = study(table("ABC", ["code", "easy", "odd"]), settings)
    assert [one.name for one in pictures(document)][-1] == f"groups@{method}"
    found = group_ranks(document.groups, method)
    expected = [document.groups.whole[method].ranks]
    expected += [part.standings[method].ranks for part in document.groups.parts]
    np.testing.assert_array_equal(found.ranks, expected)
    np.testing.assert_array_equal(found.ranks[1:], [[3, 2, 1], [3, 2, 1], [1, 2, 3]])
    assert found.ranks.shape == (4, 3)


@pytest.mark.parametrize(("count", "groups"), [(2, 2), (12, 5), (60, 3), (5, 20)])
def test_legible(legible, names, count, groups):
    labels = [f"group of tasks {number}" for number in range(groups)]
    document = rank(table(names(count), labels), RankSettings(no_test=True))
    words = legible(lambda: draw(document, "groups"))
    assert "all together" in words
