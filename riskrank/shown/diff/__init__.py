"""A diff as a page, and as tests of a CI server."""
