"""``riskrank copa`` from the command line to its output, against loops, closed forms and invariances."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import run_command

LEADERBOARD = Path(__file__).parents[2] / "sample_data" / "llm_leaderboard.csv"
LLMS = (str(LEADERBOARD), "--wide", "--metrics-file", str(LEADERBOARD.with_suffix(".toml")))


def copa(*arguments, **streams):
    return run_command("copa", *arguments, **streams)


def as_json(*arguments):
    outcome = copa(*arguments, "--format", "json")
    assert outcome.status == 0, outcome.stderr
    return outcome


def write_wide(path, names, metrics, values):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", *metrics])
        writer.writerows([name, *row] for name, row in zip(names, values, strict=True))
    return path


@pytest.fixture
def small(tmp_path):
    """Random values with ties and two identical models; the third column is minimised."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 5, (9, 3)).astype(float)
    values[7] = values[2]
    names = [f"m{i}" for i in range(9)]
    path = write_wide(tmp_path / "small.csv", names, ["acc", "f1", "co2"], values.tolist())
    return names, values, (path, "--wide", "--higher", "acc,f1", "--lower", "co2")


def test_a_per_sample_table_is_averaged(tmp_path):
    rng = np.random.default_rng(1)
    names, metrics = ["a", "b", "c", "d"], ["acc", "cost"]
    scores = rng.normal(size=(4, 5, 2))
    text = "model,sample,metric,score\n" + "".join(
        f"{name},s{s},{metric},{scores[i, s, k]}\n"
        for i, name in enumerate(names)
        for s in range(5)
        for k, metric in enumerate(metrics)
    )
    (tmp_path / "long.csv").write_text(text)
    wide = write_wide(tmp_path / "wide.csv", names, metrics, scores.mean(axis=1).tolist())
    directions = ("--higher", "acc", "--lower", "cost")
    averaged = as_json(tmp_path / "long.csv", *directions).results
    sampled = as_json(wide, "--wide", *directions).results
    for average, other in zip(averaged, sampled, strict=True):
        assert (average["model"], average["rank"], average["u"]) == (
            other["model"],
            other["rank"],
            other["u"],
        )
        assert average["values"] == pytest.approx(other["values"])


def test_long_and_wide_and_other_row_orders_give_the_same_results(tmp_path, small):
    names, values, arguments = small
    rows = [
        f"{name},{metric},{values[i, k]}\n"
        for i, name in enumerate(names)
        for k, metric in enumerate(["acc", "f1", "co2"])
    ]
    (tmp_path / "long.csv").write_text("model,metric,score\n" + "".join(reversed(rows)))
    assert as_json(tmp_path / "long.csv", *arguments[2:]).results == as_json(*arguments).results


def test_weights_come_from_the_metrics_file_too(tmp_path):
    toml = LEADERBOARD.with_suffix(".toml").read_text() + "weight = 0.5\n"  # co2 comes last
    (tmp_path / "m.toml").write_text(toml)
    from_file = as_json(LEADERBOARD, "--wide", "--metrics-file", tmp_path / "m.toml")
    assert from_file.results == as_json(*LLMS, "--weight", "co2=0.5").results
    assert from_file.meta["method"]["weights"]["co2"] == 0.5
    assert from_file.meta["method"]["weights"]["bbh"] == pytest.approx(0.5 / 6)


def test_a_weight_of_zero_leaves_an_objective_out_of_the_norm():
    rows = as_json(*LLMS, "--weight", "co2=0").results
    assert rows[0]["model"] == "dfurman/CalmeRys-78B-Orpo-v0.1"
    assert rows[0]["norm"] == 0


# Explanations


# Missing scores, copies, constants


def test_top_limits_the_rows_but_not_the_population():
    rows = as_json(*LLMS).results
    assert as_json(*LLMS, "--top", "3").results == rows[:3]
    compared = as_json(*LLMS, "--compare", "--top", "2").results
    assert {row["model"] for row in compared} == {row["model"] for row in rows[:2]}


def test_a_single_objective_is_ranked():
    rows = as_json(*LLMS, "--metric", "co2").results
    assert [row["values"]["co2"] for row in rows] == sorted(row["values"]["co2"] for row in rows)
    assert "Choose postbot" in copa(*LLMS, "--metric", "co2").stdout


def test_prices_and_broken_names_on_the_first_screen(run, write):
    """Prices have their own number of digits, and a line break within a name does not break the verdict."""
    draws = np.random.default_rng(0)
    rows = ["model,sample,acc,price"]
    for name, share, price in (('"big\nold"', 0.9, 5.0), ("mid", 0.7, 2.05), ("small", 0.4, 2.0)):
        rows += [f"{name},{i},{int(draws.random() < share)},{price}" for i in range(100)]
    path = write("t.csv", "\n".join(rows) + "\n")
    stdout = run("copa", path, "--wide", "--higher", "acc", "--lower", "price").stdout
    assert "2.05 " in stdout
    assert "2.050" not in stdout
    assert "big old" in stdout
    assert "\nold" not in stdout
