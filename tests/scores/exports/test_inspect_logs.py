"""Logs of Inspect: archives of every compression, summaries or samples, failures, letters, epochs."""

import json
import math
import zipfile

import pytest

import riskrank
from riskrank.errors import InputError, UsageError
from tests.scores.exports import archives
from tests.scores.exports.helpers import assert_named_or_left_out
from tests.scores.exports.helpers import read as read_any


def scored(id, epoch=1, **values):
    return {
        "id": id,
        "epoch": epoch,
        "input": "x",
        "scores": {name: {"value": value, "answer": "a"} for name, value in values.items()},
    }


def header(model="m/a", task="sums", status="success", created="2026-01-01", args=None, **config):
    return {
        "version": 2,
        "status": status,
        "eval": {
            "run_id": "r",
            "created": created,
            "task": task,
            "task_args": args or {},
            "model": model,
            "dataset": {"sample_ids": ["1", "2"]},
            "config": config,
        },
    }


def members(samples, chunked=False, summaries=True, **about):
    name = "samples/{}_epoch_{}/sample.json" if chunked else "samples/{}_epoch_{}.json"
    found = {"_journal/start.json": header(**about)}
    found |= {name.format(s["id"], s["epoch"]): s | {"messages": ["long"]} for s in samples}
    if summaries:
        found["summaries.json"] = samples
    return found | {"header.json": header(**about)}


@pytest.fixture
def write(tmp_path):
    def to_file(name, samples, method=archives.ZSTANDARD, **about):
        path = tmp_path / name
        if name.endswith(".json"):
            path.write_text(json.dumps(header(**about) | {"samples": samples}))
        else:
            path.write_bytes(archives.archive(members(samples, **about), method))
        return path

    return to_file


def read(*paths, name="inspect", **rules):
    return read_any(name, *paths, **rules)


def cells(export):
    return {(row["sample"], row["metric"]): row["score"] for row in export.rows.iter_rows(named=True)}


SAMPLES = [scored(1, match="C", rating=3), scored("q/2_epoch_9", match="I", rating=4.5)]


@pytest.mark.parametrize("method", [archives.STORED, archives.DEFLATED, archives.ZSTANDARD])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("summaries", [False, True])
def test_archives_of_every_kind_say_the_same(write, method, chunked, summaries):
    path = write("a.eval", SAMPLES, method, chunked=chunked, summaries=summaries)
    export = read(path, name="auto")
    assert cells(export) == {
        ("sums/1", "match"): 1.0,
        ("sums/1", "rating"): 3.0,
        ("sums/q/2_epoch_9", "match"): 0.0,
        ("sums/q/2_epoch_9", "rating"): 4.5,
    }
    assert set(export.rows["model"]) == {"m/a"}
    assert export.notes == ()
    if method != archives.ZSTANDARD:
        assert zipfile.ZipFile(path).testzip() is None  # the test's own writer writes real archives


def test_a_json_log_says_the_same(write):
    assert cells(read(write("a.json", SAMPLES), name="auto")) == cells(read(write("a.eval", SAMPLES)))


def test_letters_count_as_inspect_counts_them(write):
    letters = [scored(i, grade=letter) for i, letter in enumerate("CPIN")]
    assert list(cells(read(write("a.eval", letters))).values()) == [1.0, 0.5, 0.0, 0.0]


def test_letters_among_other_answers_are_text(write, tmp_path):
    answers = [scored(i, answer=letter, match="C") for i, letter in enumerate("ABC")]
    export = read(write("a.eval", answers))
    assert set(export.rows["metric"]) == {"match"}
    assert export.notes == (
        f"answer: texts such as 'A', 'B', 'C' are answers, no grades, in {tmp_path / 'a.eval'}",
        "answer: values left out that are text, not scores: 3",
    )


def graded(write, name, letters, metric="grade", **about):
    samples = [scored(i, **{metric: letter}) for i, letter in enumerate(letters)]
    return write(name, samples, model=f"m/{name[0]}", **about)


@pytest.mark.parametrize("stray", ["A", "", "0.7", "c", "correct"])
def test_one_text_among_grades_is_refused_or_left_out_alone(write, stray):
    path = graded(write, "a.eval", [*"CICCI", stray, *"CCII"])
    other = graded(write, "b.eval", "CIPNCIPNCI")
    with pytest.raises(InputError) as error:
        read(path, other)
    assert f"{path}: sample 5: 'grade' is '{stray}'" in error.value.what
    assert "1 such value among 19 grades C, I, N, P" in error.value.found
    export = read(path, other, skip_bad=True)
    found = cells(export)
    assert [found[f"sums/{i}", "grade"] for i in range(10)] == [1, 0, 0.5, 0, 1, 0, 0.5, 0, 1, 0]
    rows = export.rows.filter(model="m/a")
    assert rows["score"].drop_nulls().to_list() == [1, 0, 1, 1, 0, 1, 1, 0, 0]
    assert rows.filter(sample="sums/5")["score"].to_list() == [None]
    assert export.notes == ("grade: values among grades that are none, left out: 1",)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_model_that_always_answers_c_is_not_always_right(write, labelled):
    paths = [graded(write, "a.eval", "C" * 20), graded(write, "b.eval", "ABCD" * 5)]
    named = [f"x{place}={path}" for place, path in enumerate(paths)] if labelled else paths
    with pytest.raises(InputError, match="no scores in it") as error:
        read(*named)
    assert "model 'm/a': no score of it is left" in error.value.found
    assert "'A', 'B', 'C', 'D' are answers" in error.value.found
    assert str(paths[0]) in error.value.found


def test_ten_choices_hold_letters_of_grades_and_are_none(write):
    path = graded(write, "a.eval", "ABCDEFGHIJ" * 3)
    with pytest.raises(InputError, match="no scores in it"):
        read(path)
    assert cells(read(graded(write, "b.eval", "CCC")))["sums/0", "grade"] == 1.0


def test_a_model_of_which_nothing_is_left_is_told_with_what_follows(write):
    first = write("a.eval", [scored(i, match="word") for i in range(3)], model="m/a")
    second = write("b.eval", [scored(i, match=i / 3) for i in range(3)], model="m/b")
    assert read(first, second).notes[0] == "model 'm/a': no score of it is left"
    with pytest.raises(InputError, match="at least 2 models") as error:
        riskrank.rank([str(first), str(second)], from_="inspect", higher="match")
    assert "1 model: m/b; model 'm/a': no score of it is left" in error.value.found


@pytest.mark.parametrize("version", [0, 3, 99, "2", True, [2]])
def test_versions_that_are_not_known_are_refused(write, tmp_path, version):
    path = tmp_path / "new.json"
    path.write_text(json.dumps(header() | {"version": version, "samples": SAMPLES}))
    with pytest.raises(InputError, match="version that is not known") as error:
        read(path)
    assert json.dumps(version) in error.value.found
    assert "1 and 2" in error.value.found
    good = write("good.eval", SAMPLES)
    export = read(path, good, skip_bad=True)
    assert export.rows.height == 4
    assert [entry.path for entry in export.inputs] == [str(good)]


def test_samples_of_two_versions_in_one_log_are_refused(write):
    old = {"id": 7, "epoch": 1, "score": {"value": "I"}, "scores": None}
    assert cells(read(write("old.json", [old])))["sums/7", "score"] == 0.0
    for name in ("a.eval", "a.json"):
        with pytest.raises(InputError, match="samples of two versions") as error:
            read(write(name, [*SAMPLES, old]))
        assert "sample 7 with one 'score'" in error.value.found
        assert "sample 1 with 'scores'" in error.value.found


def test_a_sample_that_failed_and_has_a_score_counts_and_is_named(write):
    samples = [scored(1, match="C") | {"error": {"message": "late"}}, scored(2, match="I")]
    export = read(write("a.eval", samples))
    assert cells(export) == {("sums/1", "match"): 1.0, ("sums/2", "match"): 0.0}
    assert len(export.notes) == 1
    assert export.notes[0].endswith("failed and yet have a score, which counts as in Inspect: 1 (sums/1)")


def test_objects_are_a_metric_a_key_and_lists_are_refused(write):
    samples = [scored(1, profile={"length": 3, "polite": "C", "note": [1, 2]}, listy=[1, 0])]
    export = read(write("a.eval", samples))
    assert cells(export) == {("sums/1", "profile.length"): 3.0, ("sums/1", "profile.polite"): 1.0}
    assert len(export.notes) == 2
    parts = cells(read(write("a.eval", samples), parts=True))
    assert parts["sums/1", "listy.0"] == 1.0
    assert parts["sums/1", "profile.note.1"] == 2.0


def test_epochs_are_draws_and_nan_and_failures_are_gaps(write):
    samples = [
        scored(1, 1, close=0.5),
        scored(1, 2, close=math.nan),
        scored(2, 1, close=1.0),
        {"id": 2, "epoch": 2, "scores": {}, "error": "RuntimeError"},
        {"id": 3, "epoch": 1, "scores": None},
        scored(3, 2, close=0.0),
        {"id": 4, "epoch": 1, "scores": None},
    ]
    for name in ("a.eval", "a.json"):
        export = read(write(name, samples, epochs=2))
        assert sorted(zip(export.rows["sample"], export.rows["draw"], export.rows["score"], strict=True)) == [
            ("sums/1", "1", 0.5),
            ("sums/1", "2", None),
            ("sums/2", "1", 1.0),
            ("sums/2", "2", None),
            ("sums/3", "1", None),
            ("sums/3", "2", 0.0),
            ("sums/4", "1", None),
        ]
        assert sorted(export.notes) == [
            "close: rows without a score: 1",
            "samples not scored: 2",
            "samples that failed, without a score: 1",
        ]


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_runs_that_did_not_end_well_are_told(write, status):
    note = read(write("a.eval", SAMPLES[:1], status=status, epochs=3)).notes[0]
    assert f"status {status}: 1 of 6 samples" in note


def test_a_killed_run_is_read_from_its_journal(tmp_path):
    killed = members(SAMPLES, summaries=False)
    del killed["header.json"]
    killed |= {"_journal/summaries/1.json": SAMPLES[:1], "_journal/summaries/2.json": SAMPLES[1:]}
    path = tmp_path / "a.eval"
    path.write_bytes(archives.archive(killed))
    export = read(path)
    assert export.rows.height == 4
    assert "ended before it was done" in export.notes[0]
    del killed["_journal/summaries/2.json"]  # flushed later than the sample
    path.write_bytes(archives.archive(killed))
    assert read(path).rows.height == 4


def test_samples_are_not_read_where_summaries_say_it_all(tmp_path):
    found = members(SAMPLES)
    for name in [name for name in found if name.startswith("samples/")]:
        found[name] = b"{ no json at all"
    path = tmp_path / "a.eval"
    path.write_bytes(archives.archive(found))
    assert read(path).rows.height == 4


def test_logs_of_one_model_and_task_are_repeats(write):
    one = write("a.eval", SAMPLES, created="2026-01-01")
    two = write("b.eval", SAMPLES, created="2026-01-02")
    export = read(one, two)
    assert set(export.rows["draw"]) == {"2026-01-01 1", "2026-01-02 1"}
    assert "2 runs of model 'm/a' on task 'sums'" in export.notes[0]


def test_a_task_with_different_arguments_is_different_tasks(write):
    paths = [write(f"{s}.eval", SAMPLES, args={"subject": s, "cot": True}) for s in ("law", "art")]
    export = read(*paths)
    assert set(export.rows["task"]) == {"sums[subject=law]", "sums[subject=art]"}
    other = write("b.eval", SAMPLES, model="m/b", args={"subject": "art", "cot": False})
    export = read(paths[0], other)
    assert set(export.rows["task"]) == {"sums"}  # one log a model: nothing collides
    assert "different values of cot, subject" in export.notes[0]


def test_filters_pick_scorers(write):
    path = write("a.eval", SAMPLES)
    assert set(read(path, filters=("rating",)).rows["metric"]) == {"rating"}
    with pytest.raises(UsageError, match="none of that name"):
        read(path, filters=("rate",))
    with pytest.raises(UsageError, match="nothing to choose"):
        read(path, splits=("test",))


def corrupt():
    good = archives.archive(members(SAMPLES))
    return {
        "empty": b"",
        "cut short": good[: len(good) // 2],
        "no zip": b"hello",
        "another zip": archives.archive({"readme.txt": b"hello"}),
        "no samples": archives.archive({"header.json": header(), "summaries.json": []}),
        "bad member": archives.archive(members(SAMPLES) | {"header.json": b'{"eval":'}),
        "bad compression": archives.archive(members(SAMPLES)).replace(
            b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfc"
        ),
        "no task": archives.archive(members(SAMPLES) | {"header.json": {"eval": {}}}),
        "no ids": archives.archive({"header.json": header(), "summaries.json": [{"epoch": 1}]}),
        "lists": archives.archive({"header.json": [], "summaries.json": {}}),
        "strange method": archives.archive(members(SAMPLES), 12),
    }


@pytest.mark.parametrize("kind", corrupt())
def test_logs_that_cannot_be_read_are_named_or_left_out(write, tmp_path, kind):
    bad, good = tmp_path / "bad.eval", write("good.eval", SAMPLES)
    bad.write_bytes(corrupt()[kind])
    assert assert_named_or_left_out("inspect", bad, bad, good).rows.height == 4


def test_a_header_alone_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(header()))
    with pytest.raises(InputError, match="holds no samples"):
        read(path)


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "a.eval"
    for method in (archives.DEFLATED, archives.ZSTANDARD):
        bomb = members(SAMPLES) | {"summaries.json": b"[" + b" " * 30_000_000 + b"]"}
        path.write_bytes(archives.archive(bomb, method))
        assert path.stat().st_size < 100_000
        with pytest.raises(InputError, match="more than 1,000,000 bytes"):
            read(path, max_bytes=1_000_000)


@pytest.mark.parametrize(("said", "message"), [(500_000_000, "packed more densely"), (9, "directory says")])
def test_a_directory_that_lies_is_refused(tmp_path, said, message):
    data = archives.archive(members(SAMPLES))
    at = data.rindex(b"summaries.json") - 22
    path = tmp_path / "a.eval"
    path.write_bytes(data[:at] + said.to_bytes(4, "little") + data[at + 4 :])
    with pytest.raises(InputError, match=message):
        read(path)


def test_the_oldest_logs_have_one_score_without_a_name(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(header() | {"samples": [{"id": 1, "epoch": 1, "score": {"value": "C"}}]}))
    assert cells(read(path)) == {("sums/1", "score"): 1.0}


def test_metadata_of_samples_are_columns(write):
    samples = [
        scored(i, match="C") | {"metadata": {"level": i % 2, "hard": i > 2, "kind": "a b", "task": "own"}}
        for i in range(4)
    ]
    samples[3]["metadata"] |= {"long": "x" * 300, "list": [1], "kind": None}
    for path in (
        write("a.eval", samples),
        write("b.eval", samples, summaries=False),
        write("c.json", samples),
        write("d.eval", samples, chunked=True),
    ):
        export = read(path)
        assert export.rows.columns[4:] == ["task", "level", "hard", "kind", "metadata_task"]
        assert export.rows["level"].to_list() == ["0", "1", "0", "1"]
        assert export.rows["hard"].to_list() == ["false", "false", "false", "true"]
        assert export.rows["kind"].to_list() == ["a b"] * 3 + [None]
        assert export.rows["metadata_task"].to_list() == ["own"] * 4
        assert "left out: long, list" in export.notes[0]


def test_metadata_that_summaries_leave_out_are_in_the_samples(tmp_path):
    bare = [scored(1, match="C"), scored(2, match="I")]
    whole = members(bare)
    for name in [name for name in whole if name.startswith("samples/")]:
        whole[name] = whole[name] | {"metadata": {"group": name[8]}}
    path = tmp_path / "old.eval"
    path.write_bytes(archives.archive(whole, archives.DEFLATED))
    assert read(path).rows["group"].to_list() == ["1", "2"]
    pieces = {
        name.replace(".json", "/sample.json") if name[:8] == "samples/" else name: value
        for name, value in members(bare, summaries=False).items()
    }
    pieces |= {f"samples/{i}_epoch_1/metadata.json": {"group": f"g{i}"} for i in (1, 2)}
    path.write_bytes(archives.archive(pieces, archives.ZSTANDARD))
    assert read(path).rows["group"].to_list() == ["g1", "g2"]


def test_a_long_sample_is_not_read_for_its_metadata(tmp_path):
    long = scored(1, match="C") | {"metadata": {"group": "a"}, "messages": "x" * (1 << 24)}
    path = tmp_path / "a.eval"
    whole = members([scored(1, match="C")]) | {"samples/1_epoch_1.json": long}
    path.write_bytes(archives.archive(whole, archives.DEFLATED))
    assert "group" not in read(path).rows.columns


def evaluated(write, name, samples, evaluation="e1", **about):
    """A log that names its evaluation."""
    log = header(**about)
    log["eval"]["eval_id"] = evaluation
    path = write(name, samples, **about)
    if name.endswith(".json"):
        path.write_text(json.dumps(log | {"samples": samples}))
    else:
        path.write_bytes(archives.archive(members(samples, **about) | {"header.json": log}, archives.STORED))
    return path


def test_an_evaluation_in_several_formats_is_read_once(write):
    samples = [*SAMPLES, scored(3, match="P", rating=math.nan)]
    whole = evaluated(write, "b.eval", samples)
    alone = read(whole)
    copy = evaluated(write, "a.json", samples)
    cut = evaluated(write, "c.json", samples[:2])
    export = read(whole, copy, cut)
    assert len(cells(export)) == export.rows.height == 6
    assert sorted(export.rows["score"].drop_nulls()) == sorted(alone.rows["score"].drop_nulls())
    assert [entry.path for entry in export.inputs] == [str(whole)]
    assert [note for note in export.notes if "once more" in note] == [
        f"{path}: left out, as it holds the run of {whole} once more" for path in (copy, cut)
    ]


@pytest.mark.parametrize("change", ["evaluation", "model", "score", "sample"])
def test_logs_that_differ_are_all_read(write, change):
    samples = [scored(1, match="C"), scored(2, match="I")]
    first = evaluated(write, "a.eval", samples)
    if change == "score":
        samples = [scored(1, match="C"), scored(2, match="C")]
    if change == "sample":
        samples = [scored(1, match="C"), scored(3, match="I")]
    more = {"model": "m/b"} if change == "model" else {}
    second = evaluated(write, "b.json", samples, "e2" if change == "evaluation" else "e1", **more)
    assert read(first, second).rows.height == 4
