"""Judge scores calibrated on human labels: accepted and refused tables."""

import numpy as np
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores

N, LABELLED = 90, 30


def frame(seed=0, models=("a", "b"), labelled=LABELLED, total=N, **changes):
    """Return a wide table; `changes` map (model, column) to a function of the column's values."""
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
    defaults = {"human": "people", "judge": "judge", "wide": True, "judges": True, "weighs_tasks": True}
    return read_scores([FrameSource(columns)], ReadOptions(**defaults | options))


def blank(*places):
    return lambda scores: [None if at in places else score for at, score in enumerate(scores)]


def test_labelled_samples_have_two_rows():
    columns = frame()
    table = read(columns)
    assert [spec.name for spec in table.metrics] == ["people"]
    assert table.row_samples[0].tolist() == [s for s in range(N) for _ in range(2 if s < LABELLED else 1)]
    first = table.values[0][: 2 * LABELLED, 0].reshape(-1, 2)
    assert first[:, 0].tolist() == columns["people"][:LABELLED]
    assert first[:, 1].tolist() == columns["judge"][:LABELLED]
    assert table.values[0][2 * LABELLED :, 0].tolist() == columns["judge"][LABELLED:N]
    of_row, signed = table.judged.strata
    power = table.judged.corrections[0].judge_weight
    assert (of_row == 0).sum() == 2 * LABELLED
    assert signed[0].sum() == pytest.approx(1)
    assert signed[0][:2] == pytest.approx([1 / LABELLED, power * (1 / N - 1 / LABELLED)])
    assert signed[0][-1] == pytest.approx(power / N)


@pytest.mark.parametrize("models", ["ab", "abc"])
def test_model_without_labels_is_named(models):
    with pytest.raises(InputError, match="no human scores for b") as caught:
        read(frame(models=tuple(models), b_people=blank(*range(N))))
    assert str(caught.value).endswith("hint: collect human scores on the same samples for all models")


def test_order_of_labelled_samples_does_not_matter():
    chosen = np.random.default_rng(3).permutation(N)
    columns = {
        name: [values[at + N * k] for k in (0, 1) for at in chosen] for name, values in frame().items()
    }
    columns["sample"] = frame()["sample"]
    shuffled, in_order = read(columns), read(frame())
    for model in (0, 1):
        correction, expected = (table.judged.corrections[model] for table in (shuffled, in_order))
        assert correction.mean == pytest.approx(expected.mean)


def test_lower_is_better_flips_judge_and_labels():
    up, down = read(frame()), read(frame(), lower=["people", "judge"])
    assert down.judged.corrections[0].mean == pytest.approx(-up.judged.corrections[0].mean)
    assert down.judged.mapping_reason == ""


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (lambda scores: [20 * (score - 1) for score in scores], "outside"),
        (lambda scores: [2.9 + score / 100 for score in scores], "less than a fifth"),
    ],
)
def test_a_judge_on_another_scale_is_mapped(judge, reason):
    table = read(frame(a_judge=judge, b_judge=judge))
    assert reason in table.judged.mapping_reason
    assert any("isotonic" in warning and "5 folds" in warning for warning in table.warnings)
    plain = read(frame())
    for correction, expected in zip(table.judged.corrections, plain.judged.corrections, strict=True):
        assert correction.judge.min() >= 1
        assert correction.judge.max() <= 5
        assert correction.mean == pytest.approx(expected.mean, abs=0.25)


def test_bounds_and_directions_define_scales():
    def bounds(high):
        return {"people": {"bounds": [1, 5]}, "judge": {"bounds": [1, high]}}

    assert read(frame(), metrics=bounds(5)).judged.mapping_reason == ""
    assert "bounds" in read(frame(), metrics=bounds(10)).judged.mapping_reason
    assert "direction" in read(frame(), lower="judge").judged.mapping_reason


@pytest.mark.parametrize(
    ("changes", "kind", "parts"),
    [
        (
            {"b_people": lambda scores: [None] * N},
            InputError,
            ("no human scores for b", "30 of a, 0 of b", "same"),
        ),
        ({"b_people": blank(4)}, InputError, ("on different samples", "29 of b; 29 samples for all", "drop")),
        (
            {"b_people": lambda scores: scores[10:] + scores[:10]},
            InputError,
            ("on different samples", "30 of a, 30 of b; 20 samples", "drop"),
        ),
        ({"a_judge": blank(7)}, InputError, ("judge, must score", "for example a on 's007'", "drop")),
        ({"labelled": 19}, InputError, ("19 human scores", "19 of 90", "at least 20")),
        ({"labelled": N}, UsageError, ("all samples", "90 of 90", "only")),
        ({"labelled": N - 1}, UsageError, ("all but one of the samples", "89 of 90", "only")),
    ],
)
def test_invalid_tables_are_refused(changes, kind, parts):
    with pytest.raises(kind) as refused:
        read(frame(**changes))
    for part, line in zip(parts, refused.value.lines(), strict=True):
        assert part in line


def test_drop_keeps_samples_labelled_for_all_models():
    table = read(frame(b_people=blank(4), a_judge=blank(80)), missing="drop")
    assert len(table.judged.labelled) == LABELLED - 1
    assert len(table.samples) == N - 1
    assert sum("unlabelled" in warning or "dropped" in warning for warning in table.warnings) == 2
    with pytest.raises(InputError, match="no human scores for b"):
        read(frame(b_people=lambda scores: [None] * N), missing="drop")


def test_judge_limited_to_labelled_samples_is_refused():
    """With swapped metrics, the labels cover all samples of the judge, so nothing would be calibrated."""
    with pytest.raises(UsageError) as caught:
        read(frame(), human="judge", judge="people", missing="drop")
    message, details, hint = caught.value.lines(flags=True)
    assert "all samples of the judge have human scores" in message
    assert f"judge on {LABELLED} of {LABELLED} samples" in details
    assert "--human people --judge judge" in hint


def test_scores_outside_bounds_are_refused():
    with pytest.raises(InputError, match="outside the bounds of metric 'people'"):
        read(frame(), metrics={"people": {"bounds": [1, 4]}})
    with pytest.raises(InputError, match="outside the bounds of metric 'judge'"):
        read(frame(), metrics={"judge": {"bounds": [2, 5]}})


def test_tasks_are_refused_unless_pooled():
    columns = frame() | {"task": ["x", "y"] * N}
    with pytest.raises(UsageError, match="does not support tasks"):
        read(columns)
    assert len(read(columns, task="none").samples) == N
