"""Gates as a page, a test report, and notes on a run."""
