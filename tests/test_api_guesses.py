"""Calls that users of other libraries would try: they work, or the error suggests the right one."""

import io
import re

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, UsageError
from tests.cli.conftest import run_command as run

RNG = np.random.default_rng(0)
HARD = RNG.random(60)
ARRAYS = {name: np.clip(HARD + shift, 0, 1) for name, shift in (("a", 0.1), ("b", 0.0), ("c", -0.1))}
MATRIX = np.column_stack([*ARRAYS.values()])
FRAME = pl.concat(
    pl.DataFrame({"model": [name] * 60, "sample": range(60), "acc": column, "seconds": 1 + column})
    for name, column in ARRAYS.items()
)
FEW = {"resamples": 60}


def old_and_new():
    """Return scores of two versions, without a model column."""
    both = FRAME.drop("seconds").partition_by("model", include_key=False)
    return both[1], both[0]


@pytest.mark.parametrize(
    ("scores", "options", "models"),
    [
        (ARRAYS, {}, "abc"),
        ({name: [*column] for name, column in ARRAYS.items()}, {}, "abc"),
        ({"a": ARRAYS["a"], "b": ARRAYS["b"][:50]}, {"unpaired": True}, "ab"),
        (MATRIX, {"models": ["a", "b", "c"]}, "abc"),
        (MATRIX, {}, ("model1", "model2", "model3")),
        ([*ARRAYS.values()], {"models": ["a", "b", "c"]}, "abc"),
        (FRAME.lazy(), {"metric": ["acc"]}, "abc"),
        (pl.DataFrame(ARRAYS), {}, "abc"),
        (
            {name: pl.DataFrame({"sample": range(60), "acc": column}) for name, column in ARRAYS.items()},
            {},
            "abc",
        ),
        (
            {name: dict(zip("abcdefghijkl", column, strict=False)) for name, column in ARRAYS.items()},
            {},
            "abc",
        ),
    ],
)
def test_arrays_are_scores(scores, options, models):
    result = rr.rank(scores, **options, **FEW)
    assert {*result.frame["model"]} == {*models}
    assert result.best == models[0]


@pytest.mark.parametrize("scores", [np.array([["a", 1, 0.5]] * 20, dtype=object), io.StringIO("model,acc")])
def test_other_objects_are_refused(scores):
    with pytest.raises(UsageError, match="pass a path, a frame, or columns"):
        rr.rank(scores)


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("correction", "fdr_bh", 'correction="bh"'),
        ("correction", None, "leave it out"),
        ("alpha", 0.95, "0.05 is the default"),
        ("sep", ";", "leave it out: it is detected"),
        ("alternative", "greater", "gate tests one-sided claims"),
        ("effect_size", 0.3, "power plans the number of samples"),
        ("cv", 10, "folds"),
    ],
)
def test_values_of_other_tools_get_advice(option, value, hint):
    with pytest.raises(UsageError, match=re.escape(hint)):
        rr.rank(ARRAYS, **{option: value})


@pytest.mark.parametrize(
    ("name", "meant"), [("autorank", "rank"), ("ttest_rel", "dominance"), ("create_report", "report")]
)
def test_functions_of_other_tools_get_advice(name, meant):
    with pytest.raises(AttributeError, match=rf"did you mean {meant}\?"):
        getattr(rr, name)


def test_results_are_sequences_of_rows():
    result = rr.rank(ARRAYS, **FEW)
    assert [*result] == [*result.rows]
    assert result[0].model == "a"
    assert result["mean"].equals(result.frame["mean"])
    assert {*result["b"]["model"]} == {"b"}


def test_files_without_a_common_column_are_named(tmp_path):
    for name, columns in (("a", "sample,model,acc"), ("b", "question,x,y")):
        (tmp_path / f"{name}.csv").write_text(f"{columns}\n1,2,3\n")
    with pytest.raises(InputError, match="no column in common"):
        rr.rank([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_names_of_metrics_are_no_models():
    with pytest.raises(rr.errors.RiskrankError):
        rr.rank({"accuracy": ARRAYS["a"], "latency": ARRAYS["b"]}, **FEW)


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        *(("n_boot", "resamples"), ("n_resamples", "resamples"), ("n_permutations", "resamples")),
        *(
            ("random_state", "seed"),
            ("rng", "seed"),
            ("confidence_level", "(1 − confidence)"),
            ("significance", "alpha"),
        ),
        *(("n_jobs", "jobs"), ("workers", "jobs"), ("lower_is_better", "lower"), ("minimize", "lower")),
        *(("higher_is_better", "higher"), ("greater_is_better", "higher"), ("direction", "directions")),
        *(("model_col", "columns"), ("score_col", "columns"), ("id_col", "columns"), ("by", "columns")),
        *(("p_adjust", "correction"), ("posthoc", "correction"), ("multipletests", "correction")),
        *(
            ("paired", "(the opposite of paired)"),
            ("nan_policy", "missing"),
            ("dropna", "missing"),
            ("groups", "cluster"),
        ),
        *(("dataset", "task"), ("n_repeats", "repeats"), ("query", "where"), ("methods", "models")),
        *(("sample_weight", "weight"), ("resample", "resamples"), ("subgroup", "group_by"), ("k", "top")),
        *(
            ("verbose", "nothing is printed"),
            ("baseline", "gate"),
            ("test", "dominance"),
            ("bounds", "metrics"),
        ),
    ],
)
def test_words_of_other_libraries_lead_to_options(keyword, meant):
    with pytest.raises(UsageError) as error:
        rr.rank(FRAME, **{keyword: 1})
    assert meant in error.value.hint
    assert "help(riskrank.rank) lists all options" in error.value.hint
    assert len(error.value.found) <= 80


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [("threshold", "margin"), ("tolerance", "margin"), ("candidate", "new"), ("reference", "baseline")],
)
def test_words_of_ci_lead_to_options_of_gates(keyword, meant):
    with pytest.raises(UsageError) as error:
        rr.gate(FRAME, **{keyword: "a"})
    assert meant in error.value.hint
    assert "did you mean --" in run("gate", "s.csv", f"--{keyword}", "a").stderr


@pytest.mark.parametrize(
    ("flag", "meant"), [("n-boot", "--resamples"), ("n-jobs", "--set jobs="), ("zzz", None)]
)
def test_flags_of_other_tools_lead_to_options(flag, meant):
    hint = run("rank", "s.csv", f"--{flag}", "3").stderr.splitlines()[2]
    assert hint == f"hint: {f'did you mean {meant}? ' if meant else ''}riskrank rank --help lists the options"


@pytest.mark.parametrize(
    ("command", "flag"),
    [("gate", "confirm"), ("gate", "each-sample"), ("power", "anytime"), ("", "install-completion")],
)
def test_flags_that_mean_something_else_are_not_proposed(command, flag):
    result = run(*filter(None, [command]), f"--{flag}")
    assert result.status == 2
    assert result.stderr.splitlines()[2].startswith("hint: riskrank ")


@pytest.mark.parametrize(
    ("flag", "meant"), [("resample", "resamples"), ("hihger", "higher"), ("basline", "baseline")]
)
def test_misspelt_flags_lead_to_options(flag, meant):
    assert f"did you mean --{meant}?" in run("gate", "s.csv", f"--{flag}", "3").stderr


def test_two_tables_make_a_claim():
    old, new = old_and_new()
    for result in (
        rr.gate(new=new, old=old, **FEW),
        rr.gate(new, baseline=old, **FEW),
        rr.gate(new=ARRAYS["a"], old=ARRAYS["b"], **FEW),
    ):
        assert result.passed
        assert (result.rows[0].claim, result.rows[0].new, result.rows[0].old) == ("not-worse", "new", "old")
    with pytest.raises(UsageError, match=r"gate\(new=NEW, old=OLD"):
        rr.gate(new, old)


@pytest.mark.parametrize(
    ("files", "baseline", "pair"),
    [
        (["old.csv", "new.csv"], None, "new:old"),
        (["new.csv", "old.csv"], None, "new:old"),
        (["v1.csv", "v2.csv"], None, "v2:v1"),
        (["a=v1.csv", "b=v2.csv"], None, "b:a"),
        (["v1.csv", "v1.csv"], None, "new:old"),
        (["new.csv"], "old.csv", "new:baseline"),
        (["new.csv"], "kept.parquet", "new:baseline"),
        (["pr=new.csv"], "old.csv", "pr:baseline"),
    ],
)
def test_two_files_make_a_claim(tmp_path, monkeypatch, files, baseline, pair):
    monkeypatch.chdir(tmp_path)
    old, new = old_and_new()
    for names, scores in ((("old", "v1"), old), (("new", "v2"), new)):
        for name in names:
            scores.write_csv(f"{name}.csv")
    if baseline == "kept.parquet":
        assert run("gate", "kept=old.csv", "--bless", baseline).status == 0
    options = ("--baseline", baseline) if baseline else ()
    outcome = run("gate", *files, *options, "--resamples", "200", "--format", "json")
    assert outcome.document["meta"]["method"]["not_worse"] == [pair]
    assert f"Claim: --not-worse {pair}." in outcome.stderr
    result = rr.gate(files, resamples=200, **({"baseline": baseline} if baseline else {}))
    assert result.to_dict()["results"] == outcome.document["results"]


@pytest.mark.slow
def test_results_have_the_members_that_people_expect(tmp_path):
    result = rr.rank(ARRAYS, resamples=500)
    pairs, table = result.pairs, result.p_values
    assert pairs.columns == ["method", "better", "worse", "p_value", "p_adjusted", "significant"]
    (p,) = pairs.filter(pl.col("method").str.starts_with("R-SSD"), better="a", worse="b")["p_adjusted"]
    assert table.filter(model="a")["b"][0] == p < 0.05 < table.filter(model="b")["a"][0]
    assert result.to_dict()["results"][0]["model"] == "a"
    for name in ("x.svg", "x.png", "bump:y.svg"):
        result.plot(str(tmp_path / name) if ":" not in name else f"bump:{tmp_path / 'y.svg'}")
    result.save(tmp_path / "z.pdf")
    assert {path.name for path in tmp_path.iterdir()} == {"x.svg", "x.png", "y.svg", "z.pdf"}
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())
    gate = rr.gate(ARRAYS, not_worse="a:b", **FEW)
    assert gate.p_values.columns == ["model", "b"]
    for name, meant in (
        ("winner", ".best"),
        ("pvalues", ".p_values"),
        ("comparisons", ".pairs"),
        ("ci", ".frame"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean {meant}"):
            getattr(result, name)
    for name in ("best", "pairs"):
        with pytest.raises(AttributeError, match=name):
            getattr(rr.check(FRAME), name)
    with pytest.raises(AttributeError, match="did you mean rank"):
        rr.compare(ARRAYS)
