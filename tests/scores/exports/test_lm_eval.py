"""lm-eval's layouts: tree, flat and old; filters asked for; what is no score counted."""

import json
import math

import numpy as np
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError, spell
from riskrank.scores.exports.lm_eval_aggregates import aggregate
from riskrank.scores.table.score_table import read_scores
from tests.scores.exports.helpers import assert_named_or_left_out
from tests.scores.exports.helpers import read as read_any

DATES = ("2026-01-02T03-04-05.678901", "2026-01-02T04-00-00.000001")


def row(doc, filter="none", **metrics):
    return {
        "doc_id": doc,
        "doc": {"question": f"q{doc}"},
        "resps": [["r"]],
        "filter": filter,
        "metrics": list(metrics),
        "doc_hash": f"hash{doc}",
        **metrics,
    }


@pytest.fixture
def runs(tmp_path):
    """Write runs of a tree or flat layout; returns their folder."""

    def make(tasks, *, model="org/a", date=DATES[0], folder=None, effective=None, results=True, up=None):
        place = tmp_path / "runs" / (model.replace("/", "__") if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        for task, rows in tasks.items():
            lines = "".join(json.dumps(entry) + "\n" for entry in rows)
            (place / f"samples_{task}_{date}.jsonl").write_text(lines)
        if results:
            document = {"results": {task: {} for task in tasks}, "model_name": model}
            document["higher_is_better"] = dict.fromkeys(tasks, up or {})
            document["n-samples"] = {task: {"effective": effective} for task in tasks}
            (place / f"results_{date}.json").write_text(json.dumps(document))
        return tmp_path / "runs"

    return make


def read(*paths, name="lm-eval", **rules):
    return read_any(name, *paths, **rules)


def means(export, *by):
    by = by or ("model", "task", "metric")
    return {
        key: sum(frame["score"]) / frame.height
        for key, frame in export.rows.sort("sample").group_by(by, maintain_order=True)
    }


def test_a_tree_of_models_and_tasks(runs):
    runs({"sums": [row(i, acc=float(i % 2)) for i in range(4)]}, up={"acc": True})
    root = runs({"sums": [row(i, acc=1) for i in range(4)]}, model="org/b", up={"acc": True})
    export = read(root, name="auto")
    assert means(export) == {("org/a", "sums", "acc"): 0.5, ("org/b", "sums", "acc"): 1.0}
    assert export.rows["sample"].unique().sort().to_list() == [f"sums/{i}" for i in range(4)]
    assert export.directions == {"acc": "higher"}
    assert export.notes == ()
    assert sum(entry.rows for entry in export.inputs) == 8


def test_a_task_whose_name_begins_anothers(runs):
    tasks = {"sums": [row(0, acc=1.0)], "sums_maj": [row(0, acc=0.0)], "sums_maj_2": [row(0, acc=0.5)]}
    assert means(read(runs(tasks)), "task") == {("sums",): 1.0, ("sums_maj",): 0.0, ("sums_maj_2",): 0.5}


def test_runs_of_a_flat_folder_are_paired_by_date(runs):
    runs({"t": [row(0, acc=1.0)]}, model="a", date=DATES[0], folder="")
    root = runs({"t": [row(0, acc=0.0)]}, model="b", date=DATES[1], folder="")
    assert means(read(root), "model") == {("a",): 1.0, ("b",): 0.0}
    single = read(next(root.glob(f"samples_*{DATES[1]}*")))
    assert single.rows["model"].to_list() == ["b"]


def test_without_results_the_folder_names_the_model_if_it_can(runs):
    root = runs({"t": [row(0, acc=1.0)]}, results=False)
    assert read(root).rows["model"].to_list() == ["org/a"]
    flat = runs({"t": [row(0, acc=1.0)]}, folder="flat", results=False)
    with pytest.raises(InputError, match="which model"):
        read(flat / "flat")
    assert read(f"mine={flat / 'flat'}").rows["model"].to_list() == ["mine"]
    assert read(flat / "flat", model_from_path="runs/([^/]+)/").rows["model"].to_list() == ["flat"]


def test_a_label_goes_before_several_models(runs):
    runs({"t": [row(0, acc=1.0)]})
    root = runs({"t": [row(0, acc=1.0)]}, model="org/b")
    assert set(read(f"new={root}").rows["model"]) == {"new/org/a", "new/org/b"}
    one, two = sorted(root.iterdir())
    assert set(read(f"x={one}", f"y={two}").rows["model"]) == {"x", "y"}
    assert set(read(f"x={one}", two).rows["model"]) == {"x", "org/b"}


def test_several_filters_are_asked_for(runs):
    rows = [row(i, name, em=value) for name, value in (("strict", 0), ("loose", 1)) for i in range(3)]
    root = runs({"sums": rows, "other": [row(0, acc=1.0)]})
    with pytest.raises(UsageError, match="task sums: several filters") as error:
        read(root)
    assert "strict, loose" in error.value.found
    assert means(read(root, filters=("loose",)), "task", "metric") == {
        ("other", "acc"): 1.0,
        ("sums", "em"): 1.0,
    }
    both = read(root, filters=("*",))
    assert means(both, "metric") == {("acc",): 1.0, ("em,strict",): 0.0, ("em,loose",): 1.0}
    assert read(root, metrics=("acc",)).rows["metric"].to_list() == ["acc"]
    assert read(root, metrics=("acc",), filters=("strict",)).rows["metric"].to_list() == ["acc"]
    for asked in ("lose", "nothing"):
        with pytest.raises(UsageError, match="none of that name"):
            read(root, filters=(asked,))


def test_metrics_are_wanted_of_all_tasks_or_of_one(runs):
    rows = [row(0, acc=1.0, f1=0.5)]
    root = runs({"a": rows, "b": [row(0, name, em=0.0) for name in ("strict", "loose")], "c": rows})
    for asked in (("acc",), ("a=acc", "f1")):
        export = read(root, metrics=asked)
        assert set(export.rows["task"]) == {"a", "c"}
        (note,) = (spell(text, flags=True) for text in export.notes)
        assert note == (
            "1 of 3 tasks left out, which have none of the metrics asked for: b; --metric b=em would add it"
        )
    with pytest.raises(UsageError, match="task b: several filters"):
        read(root, metrics=("a=acc",))  # says nothing of the other tasks
    kept = read(root, metrics=("a=acc", "c=f1", "em"), filters=("strict", "none"))
    assert set(kept.rows["task"]) == {"a", "b", "c"}
    assert kept.notes == ()


def test_a_metric_of_one_filter_is_not_that_of_another(runs):
    """gsm has two filters and trivia one: naming gsm's says nothing of trivia, which is left out aloud."""
    gsm = [row(0, name, exact_match=0.0) for name in ("strict", "loose")]
    root = runs({"gsm": gsm, "trivia": [row(0, exact_match=1.0)], "arc": [row(0, acc=1.0)]})
    export = read(root, metrics=("acc", "exact_match,strict"))
    assert set(export.rows["task"]) == {"gsm", "arc"}
    (note,) = (spell(text, flags=True) for text in export.notes)
    assert note.endswith("asked for: trivia; --metric trivia=exact_match would add it")
    added = read(root, metrics=("acc", "exact_match,strict", "trivia=exact_match"))
    assert set(added.rows["task"]) == {"gsm", "trivia", "arc"}
    assert added.notes == ()


@pytest.mark.parametrize("asked", [(), ("sums=em", "other=acc"), ("em", "acc")])
def test_tasks_of_a_run_are_a_suite(runs, asked):
    for model, gain in (("m/a", 0), ("m/b", 1)):
        tasks = {
            "sums": [row(i, em=float((i + gain) % 2)) for i in range(4)],
            "other": [row(i, acc=i / 4 + gain) for i in range(6)],
        }
        root = runs(tasks, model=model, up={"acc": True, "em": True})
    table = read_scores([str(root)], ReadOptions(from_="lm-eval", weighs_tasks=True, metric=asked))
    assert table.suite.names == ("other", "sums")
    assert table.suite.metrics == ("acc", "em")
    assert table.suite.sizes.tolist() == [6, 4]
    assert [table.samples[0], table.samples[-1]] == ["other/0", "sums/3"]
    means = [
        np.mean([values[table.suite.of_sample == task].mean() for task in (0, 1)]) for values in table.values
    ]
    assert means == pytest.approx([(2.5 / 4 + 0.5) / 2, (2.5 / 4 + 1 + 0.5) / 2])


def test_a_metric_may_name_its_filter(runs):
    """As the harness prints it: ``em,loose``; a task without that filter asks as before."""
    rows = [row(i, name, em=value) for name, value in (("strict", 0), ("loose", 1)) for i in range(3)]
    root = runs({"sums": rows, "other": [row(0, acc=1.0)]})
    export = read(root, metrics=("em,loose", "acc"))
    assert means(export, "task", "metric") == {("other", "acc"): 1.0, ("sums", "em,loose"): 1.0}
    assert means(read(root, metrics=("sums=em,strict",)), "metric") == {("em,strict",): 0.0, ("acc",): 1.0}
    # The rule, where it is given, decides alone.
    ruled = read(root, metrics=("em,loose", "acc"), filters=("strict", "none"))
    assert means(ruled, "metric") == {("em",): 0.0, ("acc",): 1.0}
    with pytest.raises(UsageError, match="task sums: several filters"):
        read(root, metrics=("em,lose",))


def test_the_same_filter_counts_for_every_model(runs):
    runs({"t": [row(0, "strict", em=0), row(0, "loose", em=1)]})
    root = runs({"t": [row(0, "loose", em=1)]}, model="org/b")
    export = read(root, filters=("strict",))
    assert export.rows["model"].to_list() == ["org/a"]  # org/b has no such rows, and others do not stand in


def test_pairs_and_text_are_no_scores(runs):
    rows = [row(i, acc=1.0, mcc=[1, 0], words=[-3.5, 2], answer="C") for i in range(2)]
    root = runs({"t": rows}, up={"acc": True, "mcc": True})
    export = read(root)
    assert set(export.rows["metric"]) == {"acc"}
    assert export.directions == {"acc": "higher"}
    assert [note.split(":")[0] for note in export.notes] == ["t", "mcc", "words", "answer"]
    assert export.notes[0] == "t: mcc, over all samples and no mean of them, is 0.0 for org/a"
    parts = read(root, parts=True)
    assert means(parts, "metric") == {
        ("acc",): 1.0,
        ("mcc.0",): 1.0,
        ("mcc.1",): 0.0,
        ("words.0",): -3.5,
        ("words.1",): 2.0,
    }


def test_a_brier_score_is_the_distance_from_the_right_answer(runs):
    rows = [row(0, brier_score=[1, "[0.25 0.5\n 0.25]"]), row(1, brier_score=[0, [0.0, 1.0]])]
    scores = read(runs({"t": rows}, up={"brier_score": False})).rows["score"].to_list()
    assert scores == [0.25**2 + 0.5**2 + 0.25**2, 2.0]
    strange = [row(0, acc=1, brier_score=[5, "[0.5 0.5]"]), row(1, acc=1, brier_score=[0, "[0.1 ... 0.2]"])]
    assert set(read(runs({"t": strange})).rows["metric"]) == {"acc"}


@pytest.mark.parametrize("value", [None, math.nan, "missing"])
def test_rows_without_a_score_are_counted(runs, value):
    rows = [row(0, acc=1.0), row(1, acc=value)]
    if value == "missing":
        del rows[1]["acc"]
        rows[1]["metrics"] = ["acc"]
    export = read(runs({"t": rows}))
    assert export.rows["score"].drop_nulls().to_list() == [1.0]
    if value != "missing":
        assert export.notes == ("acc: rows without a score: 1",)


def test_rows_with_metrics_of_their_own_are_read_one_by_one(runs):
    rows = [row(0, acc=1.0), row(1, acc=True, f1=0.5), row(2, f1=1)]
    assert means(read(runs({"t": rows})), "metric") == {("acc",): 1.0, ("f1",): 0.75}


def test_plain_rows_read_at_once_equal_those_read_one_by_one(runs):
    rows = [row(i, acc=0.1 * i, f1=i) for i in range(20)]
    root = runs({"t": rows})
    fast = read(root).rows.sort("metric", "sample")
    slow = read(runs({"t": [*rows, row(99, acc=True, f1=False)]})).rows.sort("metric", "sample")
    assert fast.equals(slow.filter(slow["sample"] != "t/99"))


def test_runs_of_one_model_are_repeats(runs):
    for date, score in zip(DATES, (0.0, 1.0), strict=True):
        root = runs({"t": [row(0, acc=score)]}, date=date)
    export = read(root)
    assert export.rows["draw"].to_list() == list(DATES)
    assert "2 runs of model 'org/a'" in export.notes[0]


def test_documents_that_differ_under_one_number(runs):
    runs({"t": [row(0, acc=1.0), row(1, acc=1.0)]})
    other = [row(0, acc=1.0), row(1, acc=1.0) | {"doc_hash": "another"}]
    assert "1 doc_ids stand for different documents" in read(runs({"t": other}, model="org/b")).notes[0]


def test_files_cut_short_are_told(runs):
    root = runs({"t": [row(0, acc=1.0)]}, effective=100)
    assert "has 1 of 100" in read(root).notes[0]


def test_compressed_samples(runs):
    import gzip

    root = runs({"t": [row(0, acc=1.0)]})
    path = next(root.rglob("samples_*"))
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert means(read(root, name="auto"), "task") == {("t",): 1.0}


def old(folder, model="org/a", filters=("strict", "loose")):
    """Samples as version 0.4.2 writes them: arrays without filters, filter after filter."""
    folder.mkdir(parents=True)
    rows = [
        {
            "doc_id": i,
            "doc": {},
            "target": "x",
            "resps": [],
            "filtered_resps": [],
            "em": float(place),
            "f": [1],
        }
        for place in range(len(filters))
        for i in range(3)
    ]
    document = {
        "results": {
            "sums": {f"em,{name}": 0 for name in filters} | {"em_stderr,strict": 0.1, "alias": "sums"},
            "x_sums": {},
        },
        "configs": {
            "sums": {
                "filter_list": [{"name": name} for name in filters],
                "metric_list": [{"metric": "em", "higher_is_better": True}],
            }
        },
        "config": {"model_args": f"pretrained={model},dtype=auto"},
    }
    stem = f"pretrained__{model.replace('/', '__')},dtype__auto"
    (folder / f"{stem}_sums.jsonl").write_text(json.dumps(rows, indent=1))
    (folder / f"{stem}_x_sums.jsonl").write_text(json.dumps([{"doc_id": 0, "doc": {}, "em": 0.5}]))
    (folder / "results.json").write_text(json.dumps(document))


def test_the_old_layout(tmp_path):
    old(tmp_path / "a")
    old(tmp_path / "b", model="org/b")
    export = read(tmp_path, name="auto", filters=("*",))
    assert means(export) == {
        (model, "sums", f"em,{name}"): value
        for model in ("org/a", "org/b")
        for name, value in (("strict", 0.0), ("loose", 1.0))
    } | {(model, "x_sums", "em"): 0.5 for model in ("org/a", "org/b")}
    assert export.directions == {"em": "higher", "em,strict": "higher", "em,loose": "higher"}
    (tmp_path / "a" / "results.json").unlink()
    with pytest.raises(InputError, match="cannot tell the task"):
        read(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "empty"),
        ('{"doc_id": 0, "doc', "line 1 is not valid JSON"),
        ('{"doc": {}}', "no doc_id"),
        ("[1]", "1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_or_left_out(runs, text, match):
    root = runs({"t": [row(0, acc=1.0)]})
    bad = root / "org__a" / f"samples_bad_{DATES[0]}.jsonl"
    bad.write_text(text)
    export = assert_named_or_left_out("lm-eval", bad, root, match=match)
    assert set(export.rows["task"]) == {"t"}


def test_a_file_cut_in_a_line_loses_that_line_only(runs):
    root = runs({"t": [row(i, acc=1.0) for i in range(5)]})
    path = next(root.rglob("samples_*"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="line 5"):
        read(root)
    assert read(root, skip_bad=True).rows.height == 4


def test_results_that_are_none(runs):
    root = runs({"t": [row(0, acc=1.0)]})
    for text in ("{", "[]", "{}"):
        next(root.rglob("results_*")).write_text(text)
        with pytest.raises(InputError, match="results_"):
            read(root)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UsageError, match="cannot tell which harness"):
        read(tmp_path, name="auto")
    with pytest.raises(InputError, match="no file of this format"):
        read(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="not a choice"):
        read(tmp_path, name="lm_eval")


PAIRS = [(1, 1), (1, 0), (0, 0), (1, 1), (0, 1), (0, 0), (1, 1)]
TEXTS = [(-31.5, 12), (-8.25, 3), (-60.125, 25)]


def notes_of(runs, tasks, **rules):
    export = read(runs(tasks), **rules)
    return [note for note in export.notes if "no mean of them" in note]


def test_metrics_that_are_no_means_are_told_over_all_samples(runs):
    rows = [row(i, acc=float(a == b), mcc=[a, b]) for i, (a, b) in enumerate(PAIRS)]
    texts = [
        row(i, word_perplexity=list(pair), byte_perplexity=list(pair), bits_per_byte=list(pair))
        for i, pair in enumerate(TEXTS)
    ]
    notes = notes_of(runs, {"parity": rows, "texts": texts})
    # Three right and wrong each way: Pearson's correlation of the two columns is Matthews'.
    expected = np.corrcoef(np.array(PAIRS).T)[0, 1]
    nats = 99.875 / 40
    values = [float(note.split(" is ")[1].split(" for ")[0]) for note in notes]
    assert values == pytest.approx([expected, math.exp(nats), math.exp(nats), nats / math.log(2)], rel=1e-12)
    starts = ["parity: mcc", "texts: word_perplexity", "texts: byte_perplexity", "texts: bits_per_byte"]
    assert [note.split(",")[0] for note in notes] == starts
    assert len(notes_of(runs, {"parity": rows, "texts": texts}, parts=True)) == 4
    assert notes_of(runs, {"parity": rows}, metrics=("acc",)) == []


def test_matthews_of_three_classes_and_of_one():
    pairs = [[0, 0], [1, 2], [2, 2], [1, 1], [2, 0], [0, 0], [1, 1]]
    # The correlation of indicators of classes, centred.
    gold, found = (np.eye(3)[[pair[at] for pair in pairs]] for at in (0, 1))
    gold, found = gold - gold.mean(0), found - found.mean(0)
    expected = (gold * found).sum() / math.sqrt((gold**2).sum() * (found**2).sum())
    assert aggregate("mcc", pairs) == pytest.approx(expected, rel=1e-12)
    assert aggregate("mcc", [[1, 1], [1, 1]]) == 0.0


@pytest.mark.parametrize(
    "values", [[[1]], [[1, "a"]], [[1, 0], 3], [[True, 1]], [], [[-1.0, 0.0]], [[-1e6, 1]]]
)
def test_what_is_no_pair_has_no_aggregate(values):
    assert aggregate("word_perplexity", values) is None
    assert aggregate("acc", [[1, 0]]) is None


def test_texts_alone_are_an_error_that_says_what_they_come_to_and_how_to_read_them(runs):
    root = runs({"texts": [row(i, word_perplexity=list(pair)) for i, pair in enumerate(TEXTS)]})
    with pytest.raises(InputError, match="no scores in it") as error:
        read(root)
    assert "texts: word_perplexity, over all samples and no mean of them, is 12.1" in error.value.found
    assert "parts" in error.value.hint
    assert set(read(root, parts=True).rows["metric"]) == {"word_perplexity.0", "word_perplexity.1"}


def test_log_likelihoods_called_perplexity_are_better_when_higher(runs):
    rows = [row(i, perplexity=-1.0 - i, acc=1.0) for i in range(3)]
    export = read(runs({"words": rows}, up={"perplexity": False, "acc": True}))
    assert export.directions == {"acc": "higher", "perplexity": "higher"}
    assert "log-likelihoods" in export.notes[0]
    true = [row(i, perplexity=2.0 + i) for i in range(3)]
    assert read(runs({"words": true}, up={"perplexity": False})).directions == {"perplexity": "lower"}


def test_runs_that_disagree_on_a_direction_are_named(runs):
    runs({"t": [row(0, acc=1.0)]}, up={"acc": True})
    root = runs({"t": [row(0, acc=0.0)]}, model="org/b", up={"acc": False})
    for paths in ([root], [f"x{place}={path}" for place, path in enumerate(sorted(root.iterdir()))]):
        export = read(*paths)
        assert export.directions == {}
        assert len(export.notes) == 1
        assert "disagree" in export.notes[0]
        assert "org__a" in export.notes[0]
        assert "org__b" in export.notes[0]


def test_samples_of_a_results_file_that_is_cut_are_counted_with_it(runs):
    root = runs({"t": [row(i, acc=1.0) for i in range(6)]})
    runs({"t": [row(i, acc=0.5) for i in range(3)]}, model="org/b")
    cut = root / "org__a" / f"results_{DATES[0]}.json"
    cut.write_text(cut.read_text()[:40])
    with pytest.raises(InputError, match="not valid JSON"):
        read(root)
    export = read(root, skip_bad=True)
    assert set(export.rows["model"]) == {"org/b"}
    assert f"samples_t_{DATES[0]}.jsonl with 6 lines, as its results file cannot be read" in export.notes[0]
    assert str(cut) in export.notes[0]
    assert len(export.inputs) == 2


@pytest.mark.parametrize("part", ["configs", "n-samples", "higher_is_better", "results", "config"])
@pytest.mark.parametrize("wrong", [5, "x", [1], True])
@pytest.mark.parametrize("whole", [True, False])
def test_results_of_a_wrong_type_are_refused_with_the_file(runs, part, wrong, whole):
    root = runs({"t": [row(0, acc=1.0)]})
    path = root / "org__a" / f"results_{DATES[0]}.json"
    document = json.loads(path.read_text())
    if part == "config":
        del document["model_name"]
        document["config"] = wrong if whole else {"model_args": [wrong]}
    elif whole:
        document[part] = wrong
    else:
        document[part] = {"t": wrong}
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        read(root)
    assert str(path) in error.value.what


@pytest.mark.parametrize("wrong", [3, ["none"], {"a": 1}, True])
def test_filters_that_are_no_text_are_refused(runs, wrong):
    root = runs({"t": [row(0, acc=1.0), row(1, acc=1.0) | {"filter": wrong}]})
    with pytest.raises(InputError, match="row 2, filter is not a text"):
        read(root)
    path = root / "org__a" / f"results_{DATES[0]}.json"
    document = json.loads(path.read_text())
    document["configs"] = {"t": {"filter_list": [{"name": wrong}]}}
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        read(root)
    assert "filter" in error.value.what
