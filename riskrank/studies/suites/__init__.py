"""A suite task by task: what a study says of its tasks beside what it says of them all together."""

from riskrank.studies.suites.chapter import (
    First,
    SuiteChapter,
    SuiteColumn,
    SuiteOutline,
    suite_chapter,
    suite_outline,
)

__all__ = ["First", "SuiteChapter", "SuiteColumn", "SuiteOutline", "suite_chapter", "suite_outline"]
