import pytest

from riskrank.errors import InputError
from riskrank.scores.exports.reader import Record


def test_absent_fields_are_empty():
    record = Record("f.json", {"rows": [{}, {"a": 1}], "gap": None}, separator=": ")
    assert record.get_records("rows") == [{}, {"a": 1}]
    assert record.get_records("gap") == record.get_list("gap") == record.get_records("x") == []
    assert record.get_record("gap") == record.get_record("x") == {}
    assert record.get_records("rows")[1].location_of("a") == "f.json: rows 2, a"


@pytest.mark.parametrize("wrong", [[{"a": 1}, 2], {}, "text", 3, ""])
def test_get_records_refuses_other_types(wrong):
    with pytest.raises(InputError, match="f, x is not a list of objects"):
        Record("f", {"x": wrong}).get_records("x")


@pytest.mark.parametrize("wrong", [[], "text", 3, 0])
def test_get_record_refuses_other_types(wrong):
    with pytest.raises(InputError, match="f, x is not an object"):
        Record("f", {"x": wrong}).get_record("x")
    with pytest.raises(InputError, match="is not a list"):
        Record("f", {"x": wrong or {}}).get_list("x")
