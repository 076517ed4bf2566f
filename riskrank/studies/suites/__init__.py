"""Results on suites of tasks, used by several studies."""
