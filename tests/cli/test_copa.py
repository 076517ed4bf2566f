"""``riskrank copa`` from the command line to its output, against loops, closed forms and invariances."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from riskrank.engine.copa.comparison import BASELINES
from tests.cli.conftest import run_command

LEADERBOARD = Path(__file__).parents[2] / "sample_data" / "llm_leaderboard.csv"
LLMS = (str(LEADERBOARD), "--wide", "--metrics-file", str(LEADERBOARD.with_suffix(".toml")))


def copa(*arguments, **streams):
    return run_command("copa", *arguments, **streams)


def as_json(*arguments):
    found = copa(*arguments, "--format", "json")
    assert found.status == 0, found.stderr
    return found


def write_wide(path, names, metrics, values):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", *metrics])
        writer.writerows([name, *row] for name, row in zip(names, values, strict=True))
    return path


@pytest.fixture
def small(tmp_path):
    """Random values with ties and two copies; the third column is better small."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 5, (9, 3)).astype(float)
    values[7] = values[2]
    names = [f"m{i}" for i in range(9)]
    path = write_wide(tmp_path / "small.csv", names, ["acc", "f1", "co2"], values.tolist())
    return names, values, (path, "--wide", "--higher", "acc,f1", "--lower", "co2")


def test_further_orders_are_further_columns():
    rows = as_json(*LLMS, "--p", "2", "--p", "1,inf").results
    assert list(rows[0]["ranks"]) == ["2", "1", "inf"]
    assert rows[0]["ranks"]["2"] == rows[0]["rank"] == 1
    alone = {row["model"]: row["rank"] for row in as_json(*LLMS, "--p", "1").results}
    assert {row["model"]: row["ranks"]["1"] for row in rows} == alone


@pytest.mark.parametrize(
    ("relation", "models"), [("<=", 2), ("<", 1), (">=", 7), (">", 6), ("=", 1), ("==", 1)]
)
def test_every_relation(relation, models):
    rows = as_json(*LLMS, "--require", f"co2 {relation} 0.299141").results
    assert sum(row["feasible"] for row in rows) == models


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
    given = as_json(wide, "--wide", *directions).results
    for one, other in zip(averaged, given, strict=True):
        assert (one["model"], one["rank"], one["u"]) == (other["model"], other["rank"], other["u"])
        assert one["values"] == pytest.approx(other["values"])


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


# Sweeps


def test_sweep_edges_in_closed_form():
    """From the first to the second model α·1 = (1 − α)/6·1/7; the last one takes over at α/7 = (1 − α)/6."""
    document = as_json(*LLMS, "--sweep", "co2").document
    assert document["schema"] == "riskrank/copa-sweep"
    rows = document["results"]
    assert list(rows[0])[:3] == ["alpha_low", "alpha_high", "model"]
    assert rows[0]["alpha_low"] == 0
    assert rows[-1]["alpha_high"] == 1
    assert [row["alpha_high"] for row in rows[:-1]] == [row["alpha_low"] for row in rows[1:]]
    assert rows[0]["alpha_high"] == pytest.approx(1 / 43, abs=1e-12)
    assert rows[-1]["alpha_low"] == pytest.approx(7 / 13, abs=1e-12)
    assert [row["values"]["co2"] for row in rows] == sorted((r["values"]["co2"] for r in rows), reverse=True)
    assert document["meta"]["sweeps"][0]["coverage"] == 1


def test_sweep_of_several_orders_shows_that_a_larger_p_covers_more():
    sweeps = as_json(*LLMS, "--sweep", "co2", "--p", "1", "--p", "inf").meta["sweeps"]
    assert [sweep["p"] for sweep in sweeps] == [1, "inf"]
    assert sweeps[0]["coverage"] < sweeps[1]["coverage"]


# Explanations


def test_the_options_that_explain_prints_do_choose_the_model():
    model = "unsloth/Phi-3-mini-4k-instruct"
    page = copa(*LLMS, "--why", model, "--p", "2", "--format", "markdown").stdout.replace("\\", "")
    line = next(line for line in page.splitlines() if line.startswith("**To be chosen:**"))
    offered = line[line.index("--p") :].split()
    assert as_json(*LLMS, *offered).results[0]["model"] == model


def test_explain_names_dominators_and_binding_objectives(tmp_path):
    path = write_wide(tmp_path / "t.csv", ["good", "bad", "odd"], ["x", "y"], [[3, 3], [2, 1], [1, 4]])
    found = as_json(path, "--wide", "--higher", "*", "--why", "bad")
    explanation = found.meta["explanation"]
    assert explanation["dominated_by"] == ["good"]
    assert explanation["choosing_weights"] is None
    assert [row["metric"] for row in found.results if row["binding"]] == ["y"]  # u = 1/2 and 1
    assert [row["chosen_between"] for row in found.results] == [[], []]
    page = copa(path, "--wide", "--higher", "*", "--why", "bad").stdout
    assert "Dominated: good is at least as good everywhere" in page
    assert "none" not in page.partition("Place:")[0]
    barred = copa(path, "--wide", "--higher", "*", "--why", "bad", "--require", "x > 2").stdout
    assert "Barred: it does not meet x > 2" in barred


def test_explain_reports_the_weights_the_sweep_finds():
    rows = as_json(*LLMS, "--why", "postbot/gpt2-medium-emailgen").results
    by_metric = {row["metric"]: row for row in rows}
    assert by_metric["co2"]["chosen_between"] == [[pytest.approx(7 / 13), 1]]
    assert by_metric["co2"]["contribution"] == 0
    assert by_metric["bbh"]["binding"]


# Comparison and stability


def test_compare_ranks_by_every_criterion(tmp_path):
    path = write_wide(
        tmp_path / "t.csv", ["a", "b", "c"], ["acc", "co2"], [[0.9, 10.0], [0.8, 1.0], [0.5, 0.9]]
    )
    found = as_json(path, "--wide", "--higher", "acc", "--lower", "co2", "--compare")
    document = found.document
    assert document["schema"] == "riskrank/copa-comparison"
    criteria = list(dict.fromkeys(row["criterion"] for row in found.results))
    assert criteria[:4] == ["copa(p=inf)", "copa(p=8)", "copa(p=2)", "copa(p=1)"]
    assert len(criteria) == 4 + len(BASELINES)
    rank = {(row["criterion"], row["model"]): row["rank"] for row in found.results}
    score = {(row["criterion"], row["model"]): row["score"] for row in found.results}
    # by hand: (co2 − acc)/2 is 4.55, 0.1, 0.2
    assert [rank["average", model] for model in "abc"] == [3, 1, 2]
    # SAW, eq. 14: mean of max/acc and co2/min
    assert score["saw", "b"] == pytest.approx((0.9 / 0.8 + 1 / 0.9) / 2)
    assert score["delta", "c"] == pytest.approx((0.4 / 0.9 + 0) / 2)
    tau = document["meta"]["kendall_tau"]
    assert all(tau[name][name] == 1 for name in criteria)
    assert tau["average"]["saw"] == tau["saw"]["average"]


def test_compare_leaves_out_what_zeros_forbid_and_says_which_column():
    found = as_json(*LLMS, "--compare")
    criteria = {row["criterion"] for row in found.results}
    assert not criteria & {"saw", "ahp", "mew", "delta"}
    assert {"average", "min-max", "p-norm(p=8)"} <= criteria
    assert found.stderr.startswith("warning: left out Δ, SAW, AHP, MEW: ")
    assert "'math'" in found.stderr
    assert list(found.meta["left_out"]) == ["delta", "saw", "ahp", "mew"]


def test_compare_ranks_only_feasible_models_but_scores_the_whole_population():
    free = as_json(*LLMS, "--against", "min-max").results
    bound = as_json(*LLMS, "--against", "min-max", "--require", "co2 <= 0.5").results
    score = {(row["criterion"], row["model"]): row["score"] for row in free}
    assert len({row["model"] for row in bound}) == 4
    assert all(row["score"] == score[row["criterion"], row["model"]] for row in bound)
    assert {row["rank"] for row in bound} == {1, 2, 3, 4}


def test_resampled_populations_depend_on_its_seed_alone(small):
    _, _, arguments = small
    one, same, other = (
        as_json(*arguments, "--resample-models", "200", "--seed", seed).stdout for seed in ("1", "1", "2")
    )
    assert one == same
    document = json.loads(one)
    shares = [row["population_share"] for row in document["results"]]
    assert shares != [row["population_share"] for row in json.loads(other)["results"]]
    assert sum(shares) == pytest.approx(1)
    assert document["meta"]["populations"]["survival"] == shares[0]
    assert (document["meta"]["seed"], document["meta"]["resamples"]) == (1, 200)


# Missing scores, copies, constants


GAPS = "model,acc,co2\na,0.5,3\nb,,2\nc,0.9,1\nd,0.7,\n"


@pytest.fixture
def gaps(tmp_path):
    (tmp_path / "gaps.csv").write_text(GAPS)
    return tmp_path / "gaps.csv", "--wide", "--higher", "acc", "--lower", "co2"


def test_worst_gives_rank_one(gaps):
    found = as_json(*gaps, "--missing", "worst")
    assert "2 missing values count as the worst rank" in found.stderr
    u = {row["model"]: row["u"] for row in found.results}
    assert u["b"]["acc"] == 1
    assert u["b"]["co2"] == pytest.approx(1 / 3)
    assert u["d"] == {"acc": pytest.approx(1 / 3), "co2": 1}
    assert next(row for row in found.results if row["model"] == "b")["values"]["acc"] is None


def test_a_gap_in_one_sample_makes_the_average_missing(tmp_path):
    text = "model,sample,acc\na,1,0.1\na,2,0.2\nb,1,0.9\nb,2,\nc,1,0.5\nc,2,0.5\n"
    (tmp_path / "t.csv").write_text(text)
    found = copa(tmp_path / "t.csv", "--wide", "--higher", "acc")
    assert found.status == 2
    assert "model 'b', sample '2', metric 'acc'" in found.stderr
    dropped = as_json(tmp_path / "t.csv", "--wide", "--higher", "acc", "--missing", "drop")
    assert [row["model"] for row in dropped.results] == ["c", "a"]


def test_metrics_may_have_samples_of_their_own(tmp_path):
    rows = [f"{m},q{s},math,{s + i}" for i, m in enumerate("ab") for s in range(3)]
    rows += [f"{m},w{s},code,{s - i}" for i, m in enumerate("ab") for s in range(2)]
    (tmp_path / "t.csv").write_text("model,sample,metric,score\n" + "\n".join(rows) + "\n")
    rows = as_json(tmp_path / "t.csv", "--higher", "*").results
    assert {row["model"]: row["values"] for row in rows} == {
        "a": {"code": 0.5, "math": 1},
        "b": {"code": -0.5, "math": 2},
    }


def test_repeats_are_averaged_unless_one_is_missing(tmp_path):
    text = "model,sample,metric,score\na,1,m,1\na,1,m,3\nb,1,m,4\nb,1,m,\n"
    (tmp_path / "t.csv").write_text(text)
    arguments = (tmp_path / "t.csv", "--higher", "m", "--repeats", "mean")
    assert copa(*arguments).status == 2
    rows = as_json(*arguments, "--missing", "worst").results
    assert {row["model"]: row["values"]["m"] for row in rows} == {"a": 2, "b": None}


def test_constants_and_copies_are_warned_of(tmp_path):
    path = write_wide(tmp_path / "t.csv", "abc", ["x", "flat"], [[1, 5], [1, 5], [2, 5]])
    found = as_json(path, "--wide", "--higher", "*")
    assert "objective 'flat' has the same value for every model" in found.stderr
    assert "1 model is a copy of another" in found.stderr
    assert "a = b" in found.stderr
    assert len(found.meta["warnings"]) == 2
    assert copa(path, "--wide", "--higher", "*", "--quiet").stderr == ""


def test_a_cost_under_a_blanket_direction_is_warned_of(tmp_path):
    path = write_wide(tmp_path / "t.csv", "abc", ["x", "co2"], [[1, 5], [1, 4], [2, 3]])
    assert "metric 'co2' is taken as higher-is-better" in copa(path, "--wide", "--higher", "*").stderr
    assert copa(path, "--wide", "--higher", "*", "--lower", "co2").stderr == ""


def test_nothing_left_for_the_other_weights_is_warned_of(small):
    assert "nothing is left for co2" in as_json(*small[2], "--weight=acc=.5", "--weight=f1=.5").stderr


def test_negative_logarithms_are_shown_and_bounded_in_original_units(tmp_path):
    path = write_wide(tmp_path / "t.csv", "abc", ["ppl"], [[10.0], [2.0], [5.0]])
    (tmp_path / "m.toml").write_text('[ppl]\ntransform = "neg_log"\ndirection = "higher"\n')
    rows = as_json(path, "--wide", "--metrics-file", tmp_path / "m.toml", "--require", "ppl <= 6").results
    assert [row["model"] for row in rows] == ["b", "c", "a"]
    assert [row["values"]["ppl"] for row in rows] == pytest.approx([2, 5, 10])
    assert [row["feasible"] for row in rows] == [True, True, False]


# Output


@pytest.mark.parametrize(
    "question",
    [(), ("--sweep", "co2"), ("--sweep-p",), ("--compare",), ("--why", "icefog72/Ice0.37-18.11-RP")],
)
def test_every_question_in_every_format(question, tmp_path):
    document = as_json(*LLMS, *question).document
    assert document["meta"]["command"] == "copa"
    files = [tmp_path / f"result.{kind}" for kind in ("json", "csv", "md")]
    assert copa(*LLMS, *question, *(part for file in files for part in ("-o", file))).status == 0
    same, table, page = (file.read_text(encoding="utf-8") for file in files)
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == len(document["results"])
    assert list(rows[0]) == list(document["results"][0])
    assert json.loads(same) == document
    assert page.startswith(("### ", "**Verdict:** "))
    assert "Reading:" in copa(*LLMS, *question, "--explain").stdout


def test_top_limits_the_rows_but_not_the_population():
    rows = as_json(*LLMS).results
    assert as_json(*LLMS, "--top", "3").results == rows[:3]
    compared = as_json(*LLMS, "--compare", "--top", "2").results
    assert {row["model"] for row in compared} == {row["model"] for row in rows[:2]}


def test_the_table_answers_in_both_languages_and_in_words():
    page = copa(*LLMS, "--explain").stdout
    first = next(line for line in page.splitlines() if line.startswith(" hotmailuser"))
    assert "0.08163" in first
    assert "0.6067   57 %" in first
    verdict = " ".join(page.split("place")[0].split())
    assert (
        "Choose hotmailuser/FalconSlerp3-7B: of 8 models its weakest objective is as strong as any" in verdict
    )
    assert "Phi-3-mini-4k-instruct is as good by that, and its other objectives are weaker." in verdict
    assert "Tied: unsloth/Phi-3-mini-4k-instruct has the same norm" in page
    assert "but p = 1, 2, which forgive a" in page
    assert "hangs on the presence of" in page
    assert "over the objectives" in " ".join(copa(*LLMS, "--ccdf", "--explain").stdout.split())


def test_a_table_from_standard_input():
    text = LEADERBOARD.read_bytes()
    arguments = ("-", *LLMS[1:], "--input-format", "csv", "--format", "json")
    assert copa(*arguments, stdin=text).results == as_json(*LLMS).results


def test_one_objective_is_ranked_by_itself():
    rows = as_json(*LLMS, "--metric", "co2").results
    assert [row["values"]["co2"] for row in rows] == sorted(row["values"]["co2"] for row in rows)
    assert "Choose postbot" in copa(*LLMS, "--metric", "co2").stdout


# Bad input


def test_prices_and_broken_names_on_the_first_screen(run, write):
    """A price has its own digits, and the end of a line within a name is not one of the verdict."""
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
