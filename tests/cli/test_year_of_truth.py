"""The year of docs/year-in-ci.md: its commands run for forty weeks with a known truth."""

import re
import runpy
import shlex
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "year-in-ci.md"
YEAR = ROOT / "sample_data" / "year"
SCRIPT = runpy.run_path(str(ROOT / "sample_data" / "make_year.py"))
# Enough resamples for a level of .001, but fewer than the default.
FEW = ("--resamples", "20000", "--set", "jobs=1")
WORSE, BETTER = "is worse than", "is better than"


def truth(week):
    """Return the valid exit statuses of a week, a required text, and a forbidden text."""
    is_true = SCRIPT["WEEKS"].get(week, {})
    if "lenient" in is_true:
        return {1}, "baseline is worse than judge by more than 0.25 on helpful", BETTER
    if "absent" in is_true:
        return {1}, "new failed 20 percentage points more often than baseline on correct", "PASS"
    if is_true.get("failed", 0) >= 0.05:
        return {1}, "new failed 40 percentage points more often than baseline on correct", "PASS"
    if "failed" in is_true:  # 30 seconds each
        return {1, 4}, "seconds", "PASS"
    if is_true.get("broken", 0) > 0.2:
        return {1}, "new is worse than baseline by more than 0.1 on correct", BETTER
    if is_true.get("broken", 0) > 0.1:
        return {1, 4}, "new is worse than baseline", BETTER
    if "broken" in is_true:
        return {0, 4}, "", BETTER
    return {0}, "PASS: new is" if week == SCRIPT["RELEASE"] else "PASS: new is not worse", WORSE


def played(run, folder, tables, weeks):
    """Run the page's commands week by week; return status and verdict of each week."""
    blocks = re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    first, weekly = (
        [shlex.split(line)[1:] for line in block.replace("\\\n", "").splitlines()] for block in blocks[:2]
    )
    verdicts = {}
    for week in (0, *weeks):
        for name, table in tables.items():
            table.filter(pl.col("week") == f"week {week}").drop("week").write_parquet(
                folder / f"{name}.parquet"
            )
        if week == 0:
            assert [run(*line, "--wide").status for line in first] == [0, 0]
            continue
        for line in weekly:
            blessed = (
                ("--bless", "blessed.parquet") if (week, line) == (SCRIPT["RELEASE"], weekly[-1]) else ()
            )
            outcome = run(*line, "--wide", *FEW, *blessed)
            if outcome.status != 0:
                break
        verdict = " ".join(outcome.stdout.split("Scored:")[0].split()).removeprefix("Verdict: ")
        answer, _, counted = verdict.partition(": ")
        sentence = counted.partition(". ")[2].partition(" (")[0]
        verdicts[week] = int(outcome.status), f"{answer}: {sentence}"
    return verdicts


def wrong(verdicts):
    """Return the weeks with an invalid exit status or a false statement."""
    errors = {}
    for week, (status, sentence) in verdicts.items():
        statuses, must, must_not = truth(week)
        if status not in statuses or must not in sentence or must_not in sentence:
            errors[week] = status, sentence
    return errors


def listed(verdicts):
    """Return the block of the page; consecutive weeks with the same event and answer share a line."""
    event, reported, lines = 0, {}, []
    for week, answer in verdicts.items():
        event = week if week in SCRIPT["EVENTS"] else event
        reported[week] = event, answer
    last = 0
    for (event, (status, sentence)), weeks in groupby(reported, reported.get):
        named = list(weeks)
        if event != last:
            lines.append(f"          {SCRIPT['EVENTS'][event]}")
        last = event
        span = f"{named[0]}" if len(named) == 1 else f"{named[0]}–{named[-1]}"
        lines.append(f"{span:>5}  {status}  {sentence}")
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.slow
def test_the_year_of_the_page(run, tmp_path, monkeypatch, update_stored):
    tables = {name: pl.read_parquet(YEAR / f"{name}.parquet") for name in ("answers", "fixed")}
    (tmp_path / "metrics.toml").write_bytes((YEAR / "metrics.toml").read_bytes())
    monkeypatch.chdir(tmp_path)
    verdicts = played(run, tmp_path, tables, range(1, SCRIPT["LAST"] + 1))
    text = PAGE.read_text(encoding="utf-8")
    year = re.compile(r"(?<=without counts and figures:\n\n```text\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
    if update_stored:
        PAGE.write_text(year.sub(lambda _: listed(verdicts), text), encoding="utf-8")
    assert wrong(verdicts) == {}
    assert year.search(text)[0] == listed(verdicts)
