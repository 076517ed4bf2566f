"""Make prompts.csv: simulated scores of three models with three prompts on the same cases.

Nobody scored anything: the scores are drawn. Cases differ in difficulty. One prompt helps one of the models.
"""

from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent
CASES = 240
# Log-odds of a pass with the prompts "plain", "examples" and "reasoning".
MODELS = {"large": (1.2, 1.3, 1.9), "medium": (0.5, 0.7, 1.9), "small": (0.0, 0.9, -0.6)}
PROMPTS = ("plain", "examples", "reasoning")
SEED = 5


def prompts_table() -> pl.DataFrame:
    """Return one row a model, prompt and case."""
    rng = np.random.default_rng(SEED)
    difficulty = rng.normal(0, 1.2, CASES)
    rows = []
    for model, strengths in MODELS.items():
        for prompt, strength in zip(PROMPTS, strengths, strict=True):
            passed = rng.random(CASES) < 1 / (1 + np.exp(difficulty - strength))
            rows += [(model, prompt, f"case-{number:03d}", int(passed[number])) for number in range(CASES)]
    return pl.DataFrame(rows, schema=["model", "prompt", "case", "correct"], orient="row")


if __name__ == "__main__":
    prompts_table().write_csv(HERE / "prompts.csv")
