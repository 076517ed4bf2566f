"""``riskrank mrm`` from the outside."""

import numpy as np

from tests.tables import long_table


def test_the_table_notes_where_the_standard_deviation_contradicts_the_rest(run, write):

    # "wide" is better everywhere, yet its spread costs it more than its mean gains.
    steady = np.linspace(0, 1, 40)
    wide = steady + np.where(steady > 0.9, 9.0, 0.01)
    frame = long_table({"steady": steady, "wide": wide}, "x", str)
    text = " ".join(
        run("mrm", write("t.csv", frame), "--higher", "x", "--no-test", "--explain").stdout.split()
    )
    assert "places steady above wide; every consistent risk says the opposite" in text
