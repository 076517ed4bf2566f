import pytest

from riskrank.errors import InputError
from riskrank.scores.exports.fields import Record


def test_what_is_not_there_is_empty():
    record = Record("f.json", {"rows": [{}, {"a": 1}], "gap": None}, inside=": ")
    assert record.entries("rows") == [{}, {"a": 1}]
    assert record.entries("gap") == record.listed("gap") == record.entries("x") == []
    assert record.inner("gap") == record.inner("x") == {}
    assert record.entries("rows")[1].at("a") == "f.json: rows 2, a"


@pytest.mark.parametrize("wrong", [[{"a": 1}, 2], {}, "text", 3, ""])
def test_what_is_no_list_of_objects_is_refused(wrong):
    with pytest.raises(InputError, match="f, x is not a list of objects"):
        Record("f", {"x": wrong}).entries("x")


@pytest.mark.parametrize("wrong", [[], "text", 3, 0])
def test_what_is_no_object_is_refused(wrong):
    with pytest.raises(InputError, match="f, x is not an object"):
        Record("f", {"x": wrong}).inner("x")
    with pytest.raises(InputError, match="is not a list"):
        Record("f", {"x": wrong or {}}).listed("x")
