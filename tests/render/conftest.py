"""What tests of this folder compute is stored in `screens` beside them."""

from tests.screens import screens  # noqa: F401
