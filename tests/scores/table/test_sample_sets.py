"""Models without common samples, and metrics of samples of their own: hints that lead to a table."""

import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores


def parts(**models):
    """Models by part, each on three samples of that part."""
    rows = [
        (model, f"{part}{n}", part) for part, names in models.items() for model in names for n in range(3)
    ]
    frame = {name: [row[at] for row in rows] for at, name in enumerate(("model", "sample", "set"))}
    return frame | {"metric": ["acc"] * len(rows), "score": [0.1 * (at % 7) for at in range(len(rows))]}


def hint(frame, **options):
    with pytest.raises(InputError) as caught:
        read_scores([FrameSource(frame)], ReadOptions(**options))
    return caught.value.lines(flags=True)[2]


def test_a_column_that_divides_models_and_samples_is_named():
    frame = parts(small="AB", large="CDE", alone="F")
    text = hint(frame)
    assert "column 'set' divides them: --where \"set = 'large'\"" in text
    assert "unpaired" not in text
    read = read_scores([FrameSource(frame)], ReadOptions(where="set = 'large'"))
    assert read.models == ("C", "D", "E")


def test_models_of_samples_of_their_own_are_unpaired():
    assert "--unpaired" in hint(parts(x="A", y="B"))
    frame = parts(x="AB")
    frame["sample"][0] = "other"
    assert "--missing drop" in hint(frame)


def test_one_common_sample_is_not_dropped_to():
    frame = parts(x="A", y="B")
    for model in "AB":
        row = {"model": model, "sample": "both", "set": "z", "metric": "acc", "score": 0.5}
        for name, value in row.items():
            frame[name].append(value)
    assert "drop" not in hint(frame)


def scored(*cells):
    return {
        "model": [cell[0] for cell in cells],
        "sample": [cell[1] for cell in cells],
        "metric": [cell[2] for cell in cells],
        "score": [0.1 * at for at in range(len(cells))],
    }


def test_metrics_of_different_samples_are_taken_one_at_a_time():
    frame = scored(*((m, s, s[0]) for m in "AB" for s in ("a1", "a2", "b1", "b2", "b3")))
    assert "--metric a" in hint(frame)
    assert len(read_scores([FrameSource(frame)], ReadOptions(metric=("a",))).samples) == 2
    cells = [(model, sample, metric) for model in "AB" for sample in "12" for metric in "ab"]
    assert "--missing drop" in hint(scored(*cells[:-1]))


def test_nothing_in_common_is_said():
    cells = [("A", "1", "a"), ("A", "2", "b"), ("B", "1", "b"), ("B", "2", "a")]
    text = hint(scored(*cells))
    assert "in common" in text
    assert "drop" not in text


def test_of_many_models_without_a_metric_four_are_named():
    cells = [(model, sample, "a") for model in "ABCDEFG" for sample in "12"]
    with pytest.raises(InputError) as caught:
        read_scores([FrameSource(scored(*cells, ("A", "1", "b"), ("A", "2", "b")))], ReadOptions())
    assert "B has no b, C has no b, D has no b, E has no b … and 2 more" in caught.value.found
