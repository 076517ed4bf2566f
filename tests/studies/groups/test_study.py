"""Studies by group: results match those of separate tables, and changes are reported."""

import numpy as np
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.results import Result
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.oriented_scores import group_tables
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.dominance.study import dominance
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.study import gate
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.mrm.study import mrm
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.study import rank

QUICK = {"resamples": 60}


def columns(sizes=(("easy", 30), ("hard", 30)), models="ABC", draws=1):
    """A is best on easy samples and worst on the others; groups and samples have different sort orders."""
    rng = np.random.default_rng(5)
    rows = []
    for group, size in sizes:
        for number in range(size):
            for draw in range(draws):
                for place, model in enumerate(models):
                    gap = place if group == "easy" else -2 * place
                    for metric in ("acc", "f1"):
                        rows.append((model, f"{number}{group}", metric, group, draw, rng.normal() - gap))
    names = ("model", "sample", "metric", "topic", "draw", "score")
    table = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    return table if draws > 1 else {name: table[name] for name in names if name != "draw"}


def read(data, **options):
    return read_scores([FrameSource(data)], ReadOptions(**options))


def rows_of_group(data, group):
    positions = [at for at, name in enumerate(data["topic"]) if name == group]
    return {name: [values[at] for at in positions] for name, values in data.items()}


def assert_tables_equal(first, second):
    """Compare the scores, samples and clusters of two tables."""
    assert (first.models, first.samples, first.cluster_names) == (
        second.models,
        second.samples,
        second.cluster_names,
    )
    assert first.has_repeats == second.has_repeats
    for name in ("values", "row_samples", "clusters"):
        for ours, theirs in zip(getattr(first, name), getattr(second, name), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("options", [{}, {"unpaired": True}, {"cluster": "sample2"}])
@pytest.mark.parametrize("draws", [1, 2])
def test_group_table_holds_the_rows_of_the_group(options, draws):
    data = columns(draws=draws)
    data["sample2"] = [
        f"{sample[0]}{task}" for sample, task in zip(data["sample"], data["topic"], strict=True)
    ]
    repeats = {"repeats": "draws"} if draws > 1 else {}
    table = read(data, group_by="topic", **options, **repeats)
    assert table.group_names == ("easy", "hard")
    for name, part in group_tables(table).items():
        assert_tables_equal(part, read(rows_of_group(data, name), **options, **repeats))


def test_group_column_of_a_wide_table_is_not_a_metric():
    wide = {"model": list("AABB"), "sample": [1, 2, 1, 2], "acc": [0.5, 0.2, 0.1, 0.9], "topic": [1, 2, 1, 2]}
    table = read(wide, wide=True, group_by="topic")
    assert [metric.name for metric in table.metrics] == ["acc"]
    assert table.group_names == ("1", "2")
    assert group_tables(table)["2"].samples == ("2",)


def test_numeric_groups_are_sorted_by_value():
    data = columns(sizes=(("10", 2), ("9", 2), ("2.5", 2)))
    assert [*group_tables(read(data, group_by="topic"))] == ["2.5", "9", "10"]


@pytest.mark.parametrize(
    ("study", "settings", "key"),
    [
        (rank, RankSettings(**QUICK), "method"),
        (dominance, DominanceSettings(**QUICK), "winner"),
        (mrm, MeanRiskSettings(**QUICK), "risk"),
    ],
)
def test_group_rows_match_separate_studies(study, settings, key):
    data = columns()
    document = study(read(data, group_by="topic"), settings)
    plain = {None: study(read(data), settings)}
    plain |= {name: study(read(rows_of_group(data, name)), settings) for name in ("easy", "hard")}
    assert [row.group for row in document.rows] == [
        name for name, expected in plain.items() for _ in expected.rows
    ]
    for name, expected in plain.items():
        ours = [row for row in document.rows if row.group == name]
        for field in expected.fields:
            assert [getattr(row, field) for row in ours] == [getattr(row, field) for row in expected.rows]
    assert document.fields == (*plain[None].fields, "group")
    assert key in document.fields
    assert document.provenance.settings["group_by"] == "topic"


def test_ranking_changes_are_reported():
    data = columns(sizes=(("easy", 15), ("hard", 90)))
    document = rank(read(data, group_by="topic"), RankSettings(**QUICK))
    easy, hard = document.meta()["groups"]
    # The hard samples dominate the overall ranking: C before B before A.
    assert (easy["group"], hard["group"], easy["samples"]) == ("easy", "hard", 15)
    assert easy["kendall_tau"]["R-SSD@P(IC)"] == -1
    assert hard["kendall_tau"]["R-SSD@P(IC)"] == 1
    moved = [entry for entry in easy["moved"] if entry["method"] == "R-SSD@P(IC)"]
    assert moved == [
        {"method": "R-SSD@P(IC)", "model": "A", "rank_all": 3, "rank_group": 1},
        {"method": "R-SSD@P(IC)", "model": "C", "rank_all": 1, "rank_group": 3},
    ]
    assert "differs in 1 of 2 groups: in easy, A comes first" in document.verdict
    (finding,) = (item for item in document.findings if item.kind == "by-group")
    assert finding.figures == {"groups": 2, "changed": 1, "kendall_tau": -1}
    page = Result(document).to_text(explain=True)
    assert "Ranks by topic: R-SSD@P(IC)" in page


def test_stable_ranking_is_reported():
    data = columns(sizes=(("x", 30), ("y", 30)))
    document = dominance(read(data, group_by="topic"), DominanceSettings(**QUICK))
    assert "the order of the models is the same in both groups" in document.verdict
    assert all(group["moved"] == [] for group in document.meta()["groups"])


def test_small_groups_are_named_and_can_be_excluded():
    data = columns(sizes=(("easy", 30), ("a few", 9), ("it's", 3), ("ten", 10)))
    for study, kind in ((dominance, DominanceSettings), (rank, RankSettings), (mrm, MeanRiskSettings)):
        with pytest.raises(InputError, match="2 of 4 groups have fewer") as caught:
            study(read(data, group_by="topic"), kind())
    lines = caught.value.lines()
    assert lines[1] == "found: 9 in a few, 3 in it's"
    assert """where="topic NOT IN ('a few', 'it''s')""" in lines[2]
    with pytest.raises(InputError, match="2 of 4 groups"):
        gate(read(data, group_by="topic"), ClaimSettings(better=("A:B",)))
    selected = read(data, group_by="topic", where="topic NOT IN ('a few', 'it''s')")
    assert {row.group for row in dominance(selected, DominanceSettings(**QUICK)).rows} == {
        None,
        "easy",
        "ten",
    }
    untested = dominance(read(data, group_by="topic"), DominanceSettings(no_test=True))
    assert {row.group for row in untested.rows} == {None, "easy", "a few", "it's", "ten"}
    assert "Nothing was tested" in untested.verdict
    with pytest.raises(InputError, match="3 of 3 groups") as caught:
        rank(read(columns(sizes=(("1", 3), ("2", 3), ("3", 3))), group_by="topic"), RankSettings())
    assert "group by another column" in caught.value.lines()[2]


def test_numeric_groups_are_excluded_as_numbers():
    data = columns(sizes=((1, 30), (2, 3), (3, 30)))
    data["topic"] = [int(name) for name in data["topic"]]
    with pytest.raises(InputError) as caught:
        rank(read(data, group_by="topic", where="score < 100"), RankSettings())
    assert 'where="(score < 100) AND topic NOT IN (2)"' in caught.value.lines()[2]
    selected = read(data, group_by="topic", where="(score < 100) AND topic NOT IN (2)")
    assert selected.group_names == ("1", "3")


def test_model_without_samples_in_a_group_is_refused():
    data = columns(sizes=(("easy", 30), ("ten", 10)))
    keep = [at for at, task in enumerate(data["topic"]) if (task, data["model"][at]) != ("ten", "B")]
    incomplete = {name: [values[at] for at in keep] for name, values in data.items()}
    with pytest.raises(InputError, match="model 'B' has no samples in the group 'ten' of topic") as caught:
        dominance(read(incomplete, group_by="topic", unpaired=True), DominanceSettings(**QUICK))
    assert caught.value.lines()[1] == "found: the model has samples in easy"
    assert "topic NOT IN ('ten')" in caught.value.lines()[2]
    with pytest.raises(InputError, match="B"):  # paired models lack scores
        read(incomplete, group_by="topic")


def test_reversals_are_significant_differences():
    data = columns(sizes=(("easy", 30), ("hard", 90)))
    document = dominance(read(data, group_by="topic"), DominanceSettings(resamples=1000))
    reversals = {
        (reversal["model"], reversal["other"]): reversal for reversal in document.meta()["reversals"]
    }
    # The hard samples dominate the overall ranking; A leads on the easy ones.
    for pair in (("A", "B"), ("A", "C"), ("B", "C")):
        assert reversals[pair]["better_in"] == ("easy",)
        assert reversals[pair]["worse_in"] == (None, "hard")
    rows = {(row.group, row.order, row.test, row.winner, row.loser): row.dominates for row in document.rows}
    assert rows["easy", 2, "direct", "A", "B"]
    assert rows["hard", 2, "direct", "B", "A"]
    assert "A is significantly better than B in easy and worse in all together, hard" in document.verdict
    page = Result(document).to_text(explain=True)
    assert "Significant reversals between groups of topic" in page
    consistent = dominance(read(columns(sizes=(("x", 30), ("y", 30))), group_by="topic"), DominanceSettings())
    assert consistent.meta()["reversals"] == []


def test_warnings_name_the_group():
    document = rank(
        read(columns(sizes=(("easy", 40), ("hard", 12))), group_by="topic"), RankSettings(**QUICK)
    )
    assert any(line.startswith("group hard: only 12 samples") for line in document.provenance.warnings)


def test_subsamples_use_all_samples():
    settings = RankSettings(stability=(40,), **QUICK)
    document = rank(read(columns(), group_by="topic"), settings)
    assert document.stability is not None
    assert document.groups.parts[0].document.stability is None


def test_claims_of_all_groups_form_a_family():
    data = columns(sizes=(("easy", 90), ("hard", 30)))
    document = gate(
        read(data, group_by="topic"), ClaimSettings(not_worse=("A:B",), on=("mean:acc",), resamples=4000)
    )
    assert [row.group for row in document.rows] == [None, "easy", "hard"]
    assert [row.verdict for row in document.rows][1:] == ["pass", "fail"]
    for row in document.rows[1:]:
        scores = {
            model: [
                score
                for score, scored_model, task, metric in zip(
                    *(data[name] for name in ("score", "model", "topic", "metric")), strict=True
                )
                if (scored_model, task, metric) == (model, row.group, "acc")
            ]
            for model in "AB"
        }
        assert row.estimate == pytest.approx(np.mean(scores["A"]) - np.mean(scores["B"]))
        assert row.samples == {"easy": 90, "hard": 30}[row.group]
    # Holm by hand.
    p_values = sorted(row.p_value for row in document.rows)
    adjusted = np.minimum(np.maximum.accumulate([p * (3 - at) for at, p in enumerate(p_values)]), 1)
    assert sorted(row.p_adjusted for row in document.rows) == pytest.approx(list(adjusted))
    assert "in hard" in document.failed.lines()[0]
    assert "A is worse than B on acc in hard" in document.verdict


def test_invalid_groups_are_refused():
    data = columns()
    with pytest.raises(InputError, match=r"no column 'topics' \(for the role group\)") as caught:
        read(data, group_by="topics")
    assert "topic" in caught.value.lines()[2]
    for role in ("model", "sample", "metric", "score"):
        with pytest.raises(InputError, match=f"cannot name the {role} column"):
            read(data, group_by=role)
    with pytest.raises(InputError, match="belongs to two groups"):
        read(data | {"parity": [at % 2 for at in range(len(data["topic"]))]}, group_by="parity")
    data["topic"][3] = None
    with pytest.raises(InputError, match="the group has no name") as caught:
        read(data, group_by="topic")
    assert "topic IS NOT NULL" in caught.value.lines()[2]
    with pytest.raises(UsageError, match="cannot be used together"):
        ReadOptions(matrix="acc", group_by="topic")


def test_reversals_are_corrected_over_all_groups():
    """With many groups and equal models, some pair is reversed by chance."""
    rng = np.random.default_rng(8)
    groups, n = 20, 30
    data = {"model": [], "sample": [], "metric": [], "score": [], "topic": []}
    for model in "AB":
        data["model"] += [model] * groups * n
        data["sample"] += range(groups * n)
        data["metric"] += ["acc"] * groups * n
        data["score"] += rng.normal(size=groups * n).tolist()
        data["topic"] += [f"t{at // n}" for at in range(groups * n)]
    document = dominance(read(data, group_by="topic"), DominanceSettings(resamples=1000))
    alone = [part.standings["SSD@acc"].beats for part in document.groups.parts]
    assert any(beats[0, 1] for beats in alone)
    assert any(beats[1, 0] for beats in alone)
    assert document.meta()["reversals"] == []
    screen = Result(document).to_text()
    assert "all together" in screen
    assert "… 8 groups more: explain=True" in screen
