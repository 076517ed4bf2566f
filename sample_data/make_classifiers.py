"""Make classifiers.parquet: ten scikit-learn classifiers, scored on each sample they had not seen.

Run with the `data` dependency group installed; it takes a minute or two.
"""

from pathlib import Path

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

TARGET = Path(__file__).with_name("classifiers.parquet")
SEED = 0
FOLDS = 10
# A classifier sure of the wrong class has infinite log loss; this floor makes the worst score 13.815511.
PROBABILITY_FLOOR = 1e-6
# Enough that rounding ties nothing that matters, and it hides the last bits, where linear algebra
# libraries differ.
DECIMALS = 6

DATASETS = {"digits": load_digits, "cancer": load_breast_cancer}


def classifiers() -> dict[str, BaseEstimator]:
    """Return the classifiers by name, none of them fitted.

    An illustration, not a study: these ten came out of a search through tens of thousands of sets drawn
    from about seventy classifiers and settings, for one where the highest mean portfolio belongs to a
    model with a bad tail.
    """
    on_standardised = {
        "naive_bayes": GaussianNB(),
        "naive_bayes_calibrated": CalibratedClassifierCV(GaussianNB(), method="isotonic", ensemble=False),
        "lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "logistic": LogisticRegression(max_iter=10_000),
        "logistic_weak_penalty": LogisticRegression(C=10, max_iter=10_000),
        "svm_calibrated": CalibratedClassifierCV(SVC(C=10), method="sigmoid", ensemble=False),
        "neural_net": MLPClassifier((100, 100), alpha=1e-6, max_iter=500, random_state=SEED),
    }
    on_raw = {
        "bagged_trees": BaggingClassifier(n_estimators=5, random_state=SEED),
        "extra_trees": ExtraTreesClassifier(n_estimators=300, random_state=SEED),
        "random_forest_smooth": RandomForestClassifier(
            n_estimators=300, min_samples_leaf=5, random_state=SEED
        ),
    }
    scaled = {name: make_pipeline(StandardScaler(), model) for name, model in on_standardised.items()}
    return scaled | on_raw


def sample_scores(probability: np.ndarray, truth: np.ndarray) -> dict[str, np.ndarray]:
    """Score predicted class probabilities, shape (n, classes), against true classes, shape (n,)."""
    rows = np.arange(len(truth))
    p_true = probability[rows, truth]
    others = probability.copy()
    others[rows, truth] = -np.inf
    outcome = np.zeros_like(probability)
    outcome[rows, truth] = 1.0
    return {
        "correct": (probability.argmax(axis=1) == truth).astype(float),
        # max(…, 0) as the logarithm of 1 would otherwise be written as −0.
        "log_loss": np.maximum(-np.log(np.maximum(p_true, PROBABILITY_FLOOR)), 0.0),
        "brier": ((probability - outcome) ** 2).sum(axis=1),
        "margin": p_true - others.max(axis=1),
    }


def score_table() -> pl.DataFrame:
    """Return the long table: each row one score of one classifier on one sample under one metric."""
    parts = []
    for dataset, load in DATASETS.items():
        features, truth = load(return_X_y=True)
        samples = [f"{dataset}-{number:04d}" for number in range(1, len(truth) + 1)]
        # The same folds for every classifier.
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
        for name, model in classifiers().items():
            probability = cross_val_predict(model, features, truth, cv=folds, method="predict_proba")
            for metric, values in sample_scores(probability, truth).items():
                parts.append(
                    pl.DataFrame({"sample": samples, "score": values.round(DECIMALS)}).select(
                        pl.lit(name).alias("model"),
                        pl.lit(dataset).alias("dataset"),
                        "sample",
                        pl.lit(metric).alias("metric"),
                        "score",
                    )
                )
            print(f"{dataset:8}{name:24}accuracy {(probability.argmax(axis=1) == truth).mean():.4f}")
    table = pl.concat(parts)
    # In scikit-learn's order neighbours are alike: data sets one after the other, digits of the same writers.
    # Who wrote which is not told, so that nobody could be drawn whole; the order says nothing here.
    order = np.random.default_rng(SEED).permutation(table["sample"].n_unique())
    samples = table["sample"].unique(maintain_order=True)[order]
    place = pl.DataFrame({"sample": samples, "place": range(len(samples))})
    columns = table.columns
    return table.join(place, on="sample").sort("model", "metric", "place").select(columns)


if __name__ == "__main__":
    score_table().write_parquet(TARGET, compression="zstd", compression_level=19)
