"""Make judge.csv: simulated answers of four assistants, all scored by a judge and some by people.

Nobody scored anything: the scores are drawn. People give 1 to 5. The judge mostly says what they would, is
half a point off as often as not, and likes the long answers of `wordy` better than people do.
"""

from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent
SAMPLES, LABELLED = 600, 150
SEED = 1
# How good the answers are, and how much more the judge thinks of them than people do.
MODELS = {"base": (3.3, 0.0), "small": (3.0, 0.0), "tuned": (3.6, 0.0), "wordy": (3.3, 0.6)}


def judged_table() -> pl.DataFrame:
    """Return one row a model and question."""
    rng = np.random.default_rng(SEED)
    difficulty = rng.normal(0, 0.8, SAMPLES)
    labelled = np.zeros(SAMPLES, dtype=bool)
    labelled[rng.choice(SAMPLES, LABELLED, replace=False)] = True
    rows = []
    for model, (skill, liked) in MODELS.items():
        people = np.clip(np.rint(skill - difficulty + rng.normal(0, 0.7, SAMPLES)), 1, 5)
        judge = np.clip(np.rint(people + liked + rng.normal(0, 0.7, SAMPLES)), 1, 5)
        rows += [
            (model, f"q{number:03d}", int(people[number]) if labelled[number] else None, int(judge[number]))
            for number in range(SAMPLES)
        ]
    return pl.DataFrame(rows, schema=["model", "sample", "people", "judge"], orient="row")


if __name__ == "__main__":
    judged_table().write_csv(HERE / "judge.csv")
