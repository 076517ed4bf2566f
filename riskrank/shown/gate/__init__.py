"""A gate as a page, as tests of a CI server, and as notes on a run."""
