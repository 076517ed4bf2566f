"""``riskrank mrm`` from the outside."""

import numpy as np


def test_the_table_notes_where_the_standard_deviation_contradicts_the_rest(run, write):
    import polars as pl

    # "wide" is better everywhere, yet its spread costs it more than its mean gains.
    steady = np.linspace(0, 1, 40)
    frame = pl.DataFrame(
        {
            "model": ["steady"] * 40 + ["wide"] * 40,
            "sample": [str(i) for i in range(40)] * 2,
            "metric": ["x"] * 80,
            "score": [*steady, *(steady + np.where(steady > 0.9, 9.0, 0.01))],
        }
    )
    text = " ".join(
        run("mrm", write("t.csv", frame), "--higher", "x", "--no-test", "--explain").stdout.split()
    )
    assert "places steady above wide; every consistent risk says the opposite" in text
