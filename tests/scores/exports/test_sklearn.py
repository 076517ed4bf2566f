"""scikit-learn's searches: candidates are models, folds are samples; CSV and JSON say the same."""

import json

import polars as pl
import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json

NAN = float("nan")
PARAMS = [
    {"clf": "SVC(C=1, kernel='rbf')", "clf__C": 0.5},
    {"clf": "Tree()", "clf__depth": None},
    {"clf": "Tree()", "clf__depth": 3},
]
RESULTS = {
    "mean_fit_time": [0.1, 0.2, 0.3],
    "param_clf__C": [0.5, None, None],
    "params": PARAMS,
    "split0_test_accuracy": [0.5, 0.75, NAN],
    "split1_test_accuracy": [1.0, 0.25, NAN],
    "mean_test_accuracy": [0.75, 0.5, NAN],
    "rank_test_accuracy": [1, 2, 3],
    "split0_train_accuracy": [1.0, 1.0, 1.0],
    "split0_test_neg_log_loss": [-0.5, -0.25, NAN],
    "split1_test_neg_log_loss": [-1.5, -0.75, -2.0],
}
REPRS = [
    "{'clf': SVC(C=1, kernel='rbf'), 'clf__C': 0.5}",
    "{'clf': Tree(), 'clf__depth': None}",
    "{'clf': Tree(), 'clf__depth': 3}",
]
NAMES = ["clf=SVC(C=1, kernel='rbf'), clf__C=0.5", "clf=Tree(), clf__depth=None", "clf=Tree(), clf__depth=3"]


def as_csv(path, **columns):
    frame = pl.DataFrame(RESULTS | {"params": REPRS} | columns, strict=False)
    frame.with_columns(pl.selectors.float().fill_nan(None)).write_csv(path)
    return path


def as_json(path, **columns):
    return write_json(path, RESULTS | columns)


@pytest.mark.parametrize("write", [as_csv, as_json])
def test_candidates_and_folds(tmp_path, write):
    path = write(tmp_path / "cv_results")
    assert only_reader_of(path) == "sklearn"
    export = read("sklearn", path)
    assert_long(export)
    a, b, c = NAMES
    assert scores(export) == {
        (a, "split0", "accuracy"): 0.5,
        (a, "split1", "accuracy"): 1.0,
        (b, "split0", "accuracy"): 0.75,
        (b, "split1", "accuracy"): 0.25,
        (c, "split0", "accuracy"): None,
        (c, "split1", "accuracy"): None,
        (a, "split0", "neg_log_loss"): -0.5,
        (a, "split1", "neg_log_loss"): -1.5,
        (b, "split0", "neg_log_loss"): -0.25,
        (b, "split1", "neg_log_loss"): -0.75,
        (c, "split0", "neg_log_loss"): None,
        (c, "split1", "neg_log_loss"): -2.0,
    }
    assert export.directions == {"accuracy": "higher", "neg_log_loss": "higher"}
    assert any("accuracy: rows without a score: 2" in note for note in export.notes)


def test_a_candidate_that_failed_everywhere_is_named(tmp_path):
    path = as_json(tmp_path / "cv.json", split1_test_neg_log_loss=[-1.5, -0.75, NAN])
    assert any(f"candidate 2 ({NAMES[2]}) failed" in note for note in read("sklearn", path).notes)


def test_candidates_without_params_and_with_equal_ones(tmp_path):
    found = {name: cells for name, cells in RESULTS.items() if name != "params"}
    export = read("sklearn", write_json(tmp_path / "a.json", found))
    names = ["C=0.5", "candidate 1", "candidate 2"]
    assert export.rows["model"].unique(maintain_order=True).to_list() == [f"clf__{names[0]}", *names[1:]]
    same = read("sklearn", write_json(tmp_path / "b.json", RESULTS | {"params": [{"a": 1}] * 3}))
    assert same.rows["model"].n_unique() == 3


def test_labels_go_before_candidates(tmp_path):
    export = read("sklearn", f"grid={as_json(tmp_path / 'cv.json')}")
    assert export.rows["model"].unique(maintain_order=True).to_list() == [f"grid/{name}" for name in NAMES]


def test_other_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="no scores of folds"):
        read("sklearn", write_json(tmp_path / "a.json", {"mean_fit_time": [1]}))
    with pytest.raises(InputError, match="not a table"):
        read("sklearn", write_json(tmp_path / "b.json", RESULTS | {"params": PARAMS[:1]}))
    cut = tmp_path / "c.json"
    cut.write_text(json.dumps(RESULTS)[:-20])
    with pytest.raises(InputError, match=r"c.json: the file is not valid JSON"):
        read("sklearn", cut)


def test_reprs_are_divided_at_their_own_commas_only(tmp_path):
    values = ['it\'s, \\ "so", or', "ends in \\", [1, (2, 3)], {"k": "a, b"}, "plain"]
    asked = [{"a": value, "b": 1} for value in values]
    columns = {"mean_test_score": [0.5] * 5, "split0_test_score": [0.1, 0.2, 0.3, 0.4, 0.5]}
    frame = pl.DataFrame(columns | {"params": [repr(one) for one in asked]})
    frame.write_csv(tmp_path / "cv_results")
    names = read("sklearn", tmp_path / "cv_results").rows["model"].to_list()
    assert [name.endswith(", b=1") and name.startswith("a=") for name in names] == [True] * 5
    assert names[2] == "a=[1, (2, 3)], b=1"
    assert names[4] == "a=plain, b=1"


def test_cross_validate_is_one_model_a_file(tmp_path):
    found = {
        "fit_time": [0.1, 0.2],
        "score_time": [0.0, 0.0],
        "test_accuracy": [0.5, None],
        "train_accuracy": [1, 1],
    }
    for name in ("tree", "forest"):
        pl.DataFrame(found).write_csv(tmp_path / f"{name}.csv")
    assert only_reader_of(tmp_path / "tree.csv") == "sklearn"
    export = read("sklearn", tmp_path / "tree.csv", tmp_path / "forest.csv", model_from_path=r"(\w+)\.csv")
    assert scores(export)["tree", "split0", "accuracy"] == 0.5
    assert scores(export)["forest", "split1", "accuracy"] is None
    assert export.directions == {"accuracy": "higher"}


@pytest.mark.parametrize(
    ("truth", "predicted", "metric", "expected"),
    [
        (["a", "b"], ["a", "c"], "correct", [1.0, 0.0]),
        ([*range(30)], [2, *range(1, 30)], "absolute_error", [2, 0]),
    ],
)
def test_out_of_fold_predictions_are_rows(tmp_path, truth, predicted, metric, expected):
    pl.DataFrame({"y_true": truth, "tree": predicted, "lda": truth}).write_csv(tmp_path / "oof.csv")
    assert only_reader_of(tmp_path / "oof.csv") == "sklearn"
    found = scores(read("sklearn", tmp_path / "oof.csv"))
    assert [found["tree", f"row {at}", metric] for at in (0, 1)] == expected
