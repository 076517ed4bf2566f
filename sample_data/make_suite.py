"""Make suite/: four classifiers on eight data sets of unequal size, a folder a model and a file a data set.

Run with the `data` dependency group installed; it takes a minute.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from plotnine import data as tables
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TARGET = Path(__file__).with_name("suite")
SEED = 0
FOLDS = 10
# A classifier sure of the wrong class has infinite log loss.
PROBABILITY_FLOOR = 1e-3
DECIMALS = 3
# Of the digits a part, so that the files stay small.
MOST_SAMPLES = 900


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return numbers and classes of each data set, in the order of their sources."""
    found = {
        "cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "counties": _of(tables.midwest, ["popdensity", "percwhite", "percollege", "percprof"], "inmetro"),
        "cars": _of(tables.mpg, ["displ", "cyl", "cty", "hwy"], "drv"),
        "motors": _of(tables.mtcars, ["mpg", "disp", "hp", "wt", "qsec"], "am"),
        "penguins": _of(tables.penguins, ["bill_length_mm", "bill_depth_mm", "body_mass_g"], "sex"),
    }
    return {
        name: (numbers[:MOST_SAMPLES], classes[:MOST_SAMPLES]) for name, (numbers, classes) in found.items()
    }


def _of(table: pd.DataFrame, numbers: list[str], target: str) -> tuple[np.ndarray, np.ndarray]:
    complete = table[[*numbers, target]].dropna()
    return complete[numbers].to_numpy(float), complete[target].astype(str).to_numpy()


def classifiers() -> dict[str, BaseEstimator]:
    """Return the classifiers by name, none of them fitted; no setting was tuned."""
    return {
        "forest": RandomForestClassifier(n_estimators=200, random_state=SEED),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000)),
        "naive_bayes": make_pipeline(StandardScaler(), GaussianNB()),
        "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    }


def scores(model: BaseEstimator, numbers: np.ndarray, classes: np.ndarray) -> pl.DataFrame:
    """Score each sample by a model that has not seen it."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    _, truth = np.unique(classes, return_inverse=True)
    probability = cross_val_predict(model, numbers, truth, cv=folds, method="predict_proba")
    of_truth = probability[np.arange(len(truth)), truth]
    return pl.DataFrame(
        {
            "sample": np.arange(1, len(truth) + 1),
            "correct": (probability.argmax(axis=1) == truth).astype(int),
            "log_loss": (-np.log(np.maximum(of_truth, PROBABILITY_FLOOR))).round(DECIMALS) + 0.0,
        }
    )


def main() -> None:
    """Write a file a model and data set."""
    for name, (numbers, classes) in data_sets().items():
        for label, model in classifiers().items():
            path = TARGET / label / f"{name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            # Neighbours in these collections are alike, and nobody says why: the order of a file is random.
            order = np.random.default_rng(SEED).permutation(len(classes))
            scores(model, numbers, classes)[order].write_csv(path)


if __name__ == "__main__":
    main()
