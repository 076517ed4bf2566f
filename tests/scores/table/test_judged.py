"""A table of a judge's scores and some of people's: what it becomes, and what is refused."""

import numpy as np
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores

N, LABELLED = 90, 30


def frame(seed=0, models=("a", "b"), labelled=LABELLED, total=N, **changes):
    """A wide table; `changes` replace cells: (model, column): function of the column's values."""
    rng = np.random.default_rng(seed)
    columns = {"model": [], "sample": [], "people": [], "judge": []}
    for model in models:
        people = np.clip(np.rint(rng.normal(3, 1, total)), 1, 5)
        judge = np.clip(np.rint(people + rng.normal(0, 0.7, total)), 1, 5)
        scores = {"people": [*people[:labelled], *[None] * (total - labelled)], "judge": [*judge]}
        for name in scores:
            if f"{model}_{name}" in changes:
                scores[name] = changes[f"{model}_{name}"](scores[name])
        columns["model"] += [model] * total
        columns["sample"] += [f"s{number:03d}" for number in range(total)]
        columns["people"] += scores["people"]
        columns["judge"] += scores["judge"]
    return columns


def read(columns, **options):
    given = {"human": "people", "judge": "judge", "wide": True, "judges": True, "weighs_tasks": True}
    return read_scores([FrameSource(columns)], ReadOptions(**given | options))


def blank(*places):
    return lambda scores: [None if at in places else score for at, score in enumerate(scores)]


def test_two_rows_of_a_labelled_sample_and_one_of_the_others():
    columns = frame()
    table = read(columns)
    assert [spec.name for spec in table.metrics] == ["people"]
    assert table.row_samples[0].tolist() == [s for s in range(N) for _ in range(2 if s < LABELLED else 1)]
    first = table.values[0][: 2 * LABELLED, 0].reshape(-1, 2)
    assert first[:, 0].tolist() == columns["people"][:LABELLED]
    assert first[:, 1].tolist() == columns["judge"][:LABELLED]
    assert table.values[0][2 * LABELLED :, 0].tolist() == columns["judge"][LABELLED:N]
    of_row, signed = table.judged.strata
    power = table.judged.corrections[0].power
    assert (of_row == 0).sum() == 2 * LABELLED
    assert signed[0].sum() == pytest.approx(1)
    assert signed[0][:2] == pytest.approx([1 / LABELLED, power * (1 / N - 1 / LABELLED)])
    assert signed[0][-1] == pytest.approx(power / N)


@pytest.mark.parametrize("models", ["ab", "abc"])
def test_a_model_that_people_left_out_is_named(models):
    with pytest.raises(InputError, match="people scored nothing of b") as caught:
        read(frame(models=tuple(models), b_people=blank(*range(N))))
    assert str(caught.value).endswith("hint: have people score the same samples of all models")


def test_what_was_labelled_may_lie_anywhere():
    chosen = np.random.default_rng(3).permutation(N)
    columns = {name: [own[at + N * k] for k in (0, 1) for at in chosen] for name, own in frame().items()}
    columns["sample"] = frame()["sample"]
    shuffled, whole = read(columns), read(frame())
    for model in (0, 1):
        found, wanted = (table.judged.corrections[model] for table in (shuffled, whole))
        assert found.mean == pytest.approx(wanted.mean)


def test_less_is_better_turns_both():
    up, down = read(frame()), read(frame(), lower=["people", "judge"])
    assert down.judged.corrections[0].mean == pytest.approx(-up.judged.corrections[0].mean)
    assert down.judged.why_mapped == ""


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (lambda scores: [20 * (score - 1) for score in scores], "outside"),
        (lambda scores: [2.9 + score / 100 for score in scores], "less than a fifth"),
    ],
)
def test_a_judge_on_another_scale_is_mapped(judge, why):
    table = read(frame(a_judge=judge, b_judge=judge))
    assert why in table.judged.why_mapped
    assert any("isotonic" in warning and "5 folds" in warning for warning in table.warnings)
    plain = read(frame())
    for found, wanted in zip(table.judged.corrections, plain.judged.corrections, strict=True):
        assert found.judge.min() >= 1
        assert found.judge.max() <= 5
        assert found.mean == pytest.approx(wanted.mean, abs=0.25)


def test_bounds_tell_scales_apart():
    def bounds(high):
        return {"people": {"bounds": [1, 5]}, "judge": {"bounds": [1, high]}}

    assert read(frame(), metrics=bounds(5)).judged.why_mapped == ""
    assert "bounds" in read(frame(), metrics=bounds(10)).judged.why_mapped
    assert "direction" in read(frame(), lower="judge").judged.why_mapped


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"b_people": lambda scores: [None] * N}, InputError, ("nothing of b", "30 of a, 0 of b", "same")),
        ({"b_people": blank(4)}, InputError, ("the same samples", "29 of b; 29 samples of all", "drop")),
        (
            {"b_people": lambda scores: scores[10:] + scores[:10]},
            InputError,
            ("the same samples", "30 of a, 30 of b; 20 samples", "drop"),
        ),
        ({"a_judge": blank(7)}, InputError, ("judge, has to score", "of a on 's007'", "drop")),
        ({"labelled": 19}, InputError, ("19 human scores", "19 of 90", "at least 20")),
        ({"labelled": N}, UsageError, ("every sample", "90 of 90", "alone")),
        ({"labelled": N - 1}, UsageError, ("all samples but one", "89 of 90", "alone")),
    ],
)
def test_tables_that_are_refused(changes, kind, said):
    with pytest.raises(kind) as refused:
        read(frame(**changes))
    for part, line in zip(said, refused.value.lines(), strict=True):
        assert part in line


def test_dropping_goes_on_with_what_is_labelled_everywhere():
    table = read(frame(b_people=blank(4), a_judge=blank(80)), missing="drop")
    assert len(table.judged.labelled) == LABELLED - 1
    assert len(table.samples) == N - 1
    assert sum("not labelled" in warning or "dropped" in warning for warning in table.warnings) == 2
    with pytest.raises(InputError, match="nothing of b"):
        read(frame(b_people=lambda scores: [None] * N), missing="drop")


def test_a_judge_dropped_to_the_labelled_samples_adds_nothing():
    """With the metrics the wrong way round only labels were left: means of no samples, and a verdict."""
    with pytest.raises(UsageError) as caught:
        read(frame(), human="judge", judge="people", missing="drop")
    what, found, hint = caught.value.lines(flags=True)
    assert "every sample that the judge did" in what
    assert f"judge on {LABELLED} of {LABELLED} samples" in found
    assert "--human people --judge judge" in hint


def test_scores_outside_bounds_are_refused():
    with pytest.raises(InputError, match="outside the bounds of metric 'people'"):
        read(frame(), metrics={"people": {"bounds": [1, 4]}})
    with pytest.raises(InputError, match="outside the bounds of metric 'judge'"):
        read(frame(), metrics={"judge": {"bounds": [2, 5]}})


def test_tasks_are_refused_and_may_be_pooled():
    columns = frame() | {"task": ["x", "y"] * N}
    with pytest.raises(UsageError, match="belong to tasks"):
        read(columns)
    assert len(read(columns, task="none").samples) == N
