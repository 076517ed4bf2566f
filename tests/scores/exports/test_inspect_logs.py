"""Inspect archives with any compression, with summaries or samples, corrupt or too large."""

import zipfile

import pytest

from riskrank.errors import InputError
from tests.scores.exports import archives
from tests.scores.exports.helpers import assert_refused_or_skipped, read, scores, write_json

ABOUT = {"run_id": "r", "created": "2026-01-01", "task": "sums", "model": "m/a"}
HEADER = {"version": 2, "status": "success", "eval": ABOUT | {"dataset": {"sample_ids": ["1", "2"]}}}
SAMPLES = [
    {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}, "rating": {"value": 3}}},
    {"id": "q/2_epoch_9", "epoch": 1, "scores": {"match": {"value": "I"}, "rating": {"value": 4.5}}},
]


def members(chunked=False, summaries=True, **changes):
    name = "samples/{id}_epoch_{epoch}/sample.json" if chunked else "samples/{id}_epoch_{epoch}.json"
    result = {"_journal/start.json": HEADER}
    result |= {name.format(**sample): sample | {"messages": ["long"]} for sample in SAMPLES}
    result |= {"summaries.json": SAMPLES} if summaries else {}
    return result | {"header.json": HEADER} | changes


def write_archive(path, content, method=archives.ZSTANDARD):
    path.write_bytes(archives.archive(content, method))
    return path


@pytest.mark.parametrize("method", [archives.STORED, archives.DEFLATED, archives.ZSTANDARD])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("summaries", [False, True])
def test_archives_equal_json_logs(tmp_path, method, chunked, summaries):
    path = write_archive(tmp_path / "a.eval", members(chunked, summaries), method)
    export = read("auto", path)
    log = read("auto", write_json(tmp_path / "a.json", HEADER | {"samples": SAMPLES}))
    assert scores(export) == {
        ("m/a", "sums/1", "match"): 1.0,
        ("m/a", "sums/1", "rating"): 3.0,
        ("m/a", "sums/q/2_epoch_9", "match"): 0.0,
        ("m/a", "sums/q/2_epoch_9", "rating"): 4.5,
    }
    assert scores(log) == scores(export)
    assert export.notes == ()
    if method != archives.ZSTANDARD:
        assert zipfile.ZipFile(path).testzip() is None  # the test's own writer writes real archives


def test_samples_are_not_read_if_summaries_are_complete(tmp_path):
    archive = {
        name: b"{ no json at all" if name[:8] == "samples/" else content
        for name, content in members().items()
    }
    assert read("inspect", write_archive(tmp_path / "a.eval", archive)).rows.height == 4


def test_a_long_sample_is_not_read_for_its_metadata(tmp_path):
    long = SAMPLES[0] | {"metadata": {"group": "a"}, "messages": "x" * (1 << 24)}
    path = write_archive(tmp_path / "a.eval", members() | {"samples/1_epoch_1.json": long}, archives.DEFLATED)
    assert "group" not in read("inspect", path).rows.columns


GOOD = archives.archive(members())
CORRUPT = {
    "empty": b"",
    "cut short": GOOD[: len(GOOD) // 2],
    "no zip": b"hello",
    "another zip": archives.archive({"readme.txt": b"hello"}),
    "no samples": archives.archive({"header.json": HEADER, "summaries.json": []}),
    "bad member": archives.archive(members() | {"header.json": b'{"eval":'}),
    "bad compression": GOOD.replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfc"),
    "no task": archives.archive(members() | {"header.json": {"eval": {}}}),
    "no ids": archives.archive({"header.json": HEADER, "summaries.json": [{"epoch": 1}]}),
    "lists": archives.archive({"header.json": [], "summaries.json": {}}),
    "strange method": archives.archive(members(), 12),
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_unreadable_logs_are_refused_or_skipped(tmp_path, kind):
    bad, good = tmp_path / "bad.eval", tmp_path / "good.eval"
    bad.write_bytes(CORRUPT[kind])
    good.write_bytes(GOOD)
    assert assert_refused_or_skipped("inspect", bad, bad, good).rows.height == 4


@pytest.mark.parametrize("method", [archives.DEFLATED, archives.ZSTANDARD])
def test_zip_bomb_is_refused(tmp_path, method):
    bomb = members() | {"summaries.json": b"[" + b" " * 30_000_000 + b"]"}
    path = write_archive(tmp_path / "a.eval", bomb, method)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        read("inspect", path, max_bytes=1_000_000)


@pytest.mark.parametrize(
    ("size", "message"), [(500_000_000, "compression ratio is too high"), (9, "longer than the archive says")]
)
def test_wrong_size_in_the_directory_is_refused(tmp_path, size, message):
    at = GOOD.rindex(b"summaries.json") - 22
    path = tmp_path / "a.eval"
    path.write_bytes(GOOD[:at] + size.to_bytes(4, "little") + GOOD[at + 4 :])
    with pytest.raises(InputError, match=message):
        read("inspect", path)
