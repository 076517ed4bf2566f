"""A suite task by task: what a study says of its tasks beside what it says of them all together."""

from riskrank.studies.suites.chapter import First, SuiteChapter, SuiteColumn, suite_chapter

__all__ = ["First", "SuiteChapter", "SuiteColumn", "suite_chapter"]
