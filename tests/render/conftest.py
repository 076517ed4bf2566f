"""Store the results of the tests of this folder in `screens`."""

from tests.screens import screens  # noqa: F401
