"""Notes about a run on a CI server."""

from riskrank.render import junit


def test_a_run_has_at_most_ten_notes_failures_first():
    kinds = [*["skipped"] * 20, "failure", ""]
    cases = [
        junit.TestCase(kind, "riskrank.gate", f"claim {i}", f"message {i}") for i, kind in enumerate(kinds)
    ]
    lines = junit.workflow_annotations(junit.Suite("riskrank gate", cases), failed=True)
    assert len(lines) == 10
    assert lines[0].startswith("::error")
    assert lines[0].endswith("message 20")
    assert all(line.startswith("::warning") for line in lines[1:])
