from riskrank.errors import InputError
from riskrank.scores.files.bounded import parse_lines


def test_lines_are_counted_from_one_blank_ones_too():
    found = list(parse_lines("t.jsonl", b'{"a": 1}\n\n[2]\nnot json\n3'))
    assert [number for number, _ in found] == [1, 3, 4, 5]
    assert [value for _, value in found if not isinstance(value, InputError)] == [{"a": 1}, [2], 3]
    assert isinstance(found[2][1], InputError)
    assert "line 4" in found[2][1].what


def test_a_blank_first_line_counts():
    assert list(parse_lines("t.jsonl", b"\n7\n")) == [(2, 7)]
