"""Make folds.csv: three learners on ten times ten folds of one data set.

The Wisconsin breast cancer data, which come with scikit-learn, split ten times into ten folds. Each row is
the share of a fold's cases that a learner told right, having been trained on the other nine folds. The
folds share their training rows: 100 folds are no 100 samples.

Run with the `data` dependency group installed; all is seeded.
"""

from pathlib import Path

import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TARGET = Path(__file__).with_name("folds.csv")
SEED = 0
REPEATS, FOLDS = 10, 10

LEARNERS = {
    "lda": LinearDiscriminantAnalysis(),
    "logistic": LogisticRegression(max_iter=1000),
    "nearest_neighbours": KNeighborsClassifier(),
}


def score_table() -> pl.DataFrame:
    """Return the wide table: each row one learner on one fold."""
    features, truth = load_breast_cancer(return_X_y=True)
    splits = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=SEED)
    rows = []
    for name, learner in LEARNERS.items():
        found = cross_val_score(make_pipeline(StandardScaler(), learner), features, truth, cv=splits)
        for number, share in enumerate(found):
            rows.append((name, number // FOLDS + 1, number % FOLDS + 1, round(share, 4)))
    return pl.DataFrame(rows, schema=["model", "repeat", "fold", "accuracy"], orient="row")


if __name__ == "__main__":
    score_table().write_csv(TARGET)
