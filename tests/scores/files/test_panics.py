"""A panic says nothing on standard error; everything else that is written there does."""

import os

import pytest
from polars.exceptions import PanicException

from riskrank.scores.files.parquet import panics_unsaid


def _write_and_raise(text, error):
    os.write(2, text)
    raise error


def test_only_what_a_panic_writes_is_left_out(capfd):
    with panics_unsaid():
        os.write(2, b"a warning\n")
    assert capfd.readouterr().err == "a warning\n"
    with pytest.raises(ValueError, match="x"), panics_unsaid():
        _write_and_raise(b"why\n", ValueError("x"))
    assert capfd.readouterr().err == "why\n"
    with pytest.raises(PanicException), panics_unsaid(), panics_unsaid():
        _write_and_raise(b"thread panicked\n" * 9_000, PanicException("x"))
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"


def test_without_another_file_nothing_is_held_back(capfd, monkeypatch):
    def none_left(_number):
        raise OSError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(os, "dup", none_left)
        with panics_unsaid():
            os.write(2, b"said\n")
    assert capfd.readouterr().err == "said\n"
