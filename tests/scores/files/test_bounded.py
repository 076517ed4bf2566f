import gzip
import zlib

import polars as pl
import pytest
import zstandard

from riskrank.errors import InputError
from riskrank.scores.files.bounded import INFLATE, decompressed, parse_lines, unpacked
from riskrank.scores.files.limits import Room
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.signatures import head_of
from tests.memory import memory_below


def test_lines_are_counted_from_one_blank_ones_too():
    found = list(parse_lines("t.jsonl", b'{"a": 1}\n\n[2]\nnot json\n3'))
    assert [number for number, _ in found] == [1, 3, 4, 5]
    assert [value for _, value in found if not isinstance(value, InputError)] == [{"a": 1}, [2], 3]
    assert isinstance(found[2][1], InputError)
    assert "line 4" in found[2][1].what


def test_empty_objects_are_as_many_where_nothing_is_packed():
    assert decompressed("t", b"[" + b"{}," * 1_600_000, Room(10**9))
    with pytest.raises(InputError, match="packed more densely"):
        decompressed("t", b"[" + b"{}," * 3_200_000, Room(10**9))


def test_a_blank_first_line_counts():
    assert list(parse_lines("t.jsonl", b"\n7\n")) == [(2, 7)]


@pytest.mark.slow
def test_members_and_frames_one_after_another():
    """A megabyte of empty ones too: each is looked at once, and what follows it is not copied."""
    text = bytes(range(256)) * 100_000  # more than is unpacked at a time
    for pack in (gzip.compress, zstandard.compress):
        packed, empty = pack(text), pack(b"")
        assert decompressed("t", packed + empty * 3 + packed, Room(10**9)) == text * 2
        with pytest.raises(InputError, match="packed more densely"):
            decompressed("t", pack(bytes(21_000_000)) * 10, Room(10**9))
        assert decompressed("t", packed + empty * (1_000_000 // len(empty)), Room(10**9)) == text


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize(
    ("piece", "most"),
    [('[{"a":[[[]]]},', 120_000), ("1,", 5_000_000), ("#\n", 5_000_000), ("a\t1;1\n", 1_600_000)],
)
def test_many_values_or_lines_in_few_bytes(pack, piece, most):
    assert decompressed("t", pack(piece.encode() * most), Room(10**9))
    with pytest.raises(InputError, match="packed more densely"):
        decompressed("t", pack(piece.encode() * (2 * most)), Room(10**9))


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet"])
def test_parts_are_as_dense_as_one_file(tmp_path, suffix):
    """Each of them is allowed; all in a folder, or named one by one, are not."""
    if suffix == "parquet":
        rows = pl.repeat(None, 3_000_000, dtype=pl.Float64, eager=True)
        rows.alias("score").to_frame().write_parquet(tmp_path / "1.parquet")
    else:
        text = b"model,sample,metric,score\n" + b"A,1,acc,1\n" * 700_000
        (tmp_path / f"1.{suffix}").write_bytes(gzip.compress(text))
    (tmp_path / f"2.{suffix}").write_bytes((tmp_path / f"1.{suffix}").read_bytes())
    parts = sorted(map(str, tmp_path.iterdir()))
    assert open_sources(parts[:1])[0].load(["score"]).height
    for paths in (parts, [str(tmp_path)]):
        with pytest.raises(InputError, match=f"2.{suffix}: packed more densely"):
            [source.load(["score"]) for source in open_sources(paths)]


def test_what_is_refused_takes_no_room():
    room = Room(2 * 10**8)
    for label, size in (("a", 10**8), ("a", 10**8), ("b", 10**7)):
        room.take(label, 100, size)
    for packed, size, says in ((100, 10**8, "packed more densely"), (10**8, 3 * 10**8, "more than")):
        with pytest.raises(InputError, match=says):
            room.take("c", packed, size)
    room.take("d", 100, 10**7)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_beginning_takes_no_more_than_is_asked_for(pack):
    packed = pack(bytes(50_000_000))
    with memory_below(10_000_000):
        assert head_of(packed[:4096], 100) == bytes(100)


def test_members_that_follow_are_not_copied(monkeypatch):
    copied = []

    class Stream:
        def __init__(self, window):
            self._stream = real(window)

        def __getattr__(self, name):
            found = getattr(self._stream, name)
            if name in ("unused_data", "unconsumed_tail"):
                copied.append(len(found))
            return found

    real = zlib.decompressobj
    members = [gzip.compress(bytes(size)) for size in (0, 0, 5, 100_000, 0)] * 800
    data = b"".join(members)
    assert unpacked("t", data, Room(10**9), lambda: Stream(31)) == bytes(100_005 * 800)
    assert sum(copied) < 1024 * len(members) + len(data)


def test_what_is_no_member_behind_the_last_one_is_refused():
    with pytest.raises(InputError, match="decompressed"):
        decompressed("t", gzip.compress(b"text") + bytes(512) + b"x", Room(100))


def test_what_follows_a_bare_stream_is_not_part_of_it():
    stream = zlib.compressobj(wbits=-15)
    packed = stream.compress(b"text") + stream.flush()
    assert unpacked("t", packed + b"more", Room(100), INFLATE, bare=True) == b"text"
