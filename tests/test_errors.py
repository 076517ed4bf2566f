"""Messages name parameters, spelled as on the command line or in Python."""

import pickle
import subprocess

import pytest

from riskrank.errors import (
    InputError,
    UsageError,
    check_choice,
    index_of,
    interface_text,
    nearest,
    option,
    shell_quote,
    spell,
)


@pytest.mark.parametrize(
    ("marked", "flags", "python"),
    [
        (option("no_test"), "--no-test", "no_test"),
        (option("no_test", True), "--no-test", "no_test=True"),
        (option("lower", "a b"), "--lower 'a b'", 'lower="a b"'),
        (option("higher", "*"), "--higher '*'", 'higher="*"'),
        (option("missing", "drop"), "--missing drop", 'missing="drop"'),
        (option("resamples", 2000), "--resamples 2000", "resamples=2000"),
        (f"a {option('x', 1)} b {option('y')}", "a --x 1 b --y", "a x=1 b y"),
        (option("from", "auto"), "--from auto", 'from_="auto"'),
        (option("from_"), "--from", "from_"),
        (option("top", "N"), "--top N", "top=N"),
        (
            f"{interface_text(option('format', 'csv'), 'to_csv()')} gives",
            "--format csv gives",
            "to_csv() gives",
        ),
        ("--stays as it is", "--stays as it is", "--stays as it is"),
    ],
)
def test_parameters_are_spelled_for_shell_and_python(marked, flags, python):
    assert spell(marked, flags=True) == flags
    assert spell(marked, flags=False) == python


def test_an_error_is_three_lines_for_either_reader():
    error = InputError("a\nb", found="c", hint=f"use {option('missing', 'drop')}")
    assert error.lines(flags=True) == ("error: a b", "found: c", "hint: use --missing drop")
    assert str(error) == 'error: a b\nfound: c\nhint: use missing="drop"'
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_choice_is_returned_or_refused_with_the_nearest():
    assert check_choice("variance", "clt", ("bootstrap", "clt")) == "clt"
    assert check_choice("order", 1, (1, 2)) == 1
    with pytest.raises(UsageError) as caught:
        check_choice("variance", "bootstap", ("bootstrap", "clt"))
    assert "did you mean --variance bootstrap?" in caught.value.lines(flags=True)[2]


def test_unknown_name_is_refused_with_the_nearest():
    assert index_of("b", ("a", "b"), kind="model") == 1
    with pytest.raises(UsageError) as caught:
        index_of("gpt4", ("gpt-4", "llama"), kind="model", parameter="models")
    assert caught.value.lines(flags=True)[0] == "error: --models gpt4: there is no model 'gpt4'"
    assert "did you mean --models gpt-4?" in caught.value.lines(flags=True)[2]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tvar", "negative-tvar"),
        ("TVaR", "negative-tvar"),
        ("negative-tvra", "negative-tvar"),
        ("risk", None),  # of two
        ("va", None),  # no whole word
    ],
)
def test_unique_partial_name_is_suggested(name, meant):
    names = ["standard-deviation", "negative-tvar", "a-risk-of-the-tail", "some-risk-of-all"]
    assert nearest(name, names) == meant


@pytest.mark.parametrize("word", ["a", "a b", "it's", "a\nb", "é\t'\\"])
def test_shell_quoting_keeps_a_single_line(word):
    written = shell_quote(word)
    assert len(written.splitlines()) == 1
    assert subprocess.check_output(["bash", "-c", f"printf %s {written}"]).decode() == word
