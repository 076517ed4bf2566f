"""A run that decides nothing leaves no answer of an earlier one, which would be taken for its own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import typer

from riskrank.cli.plots import parts_of
from riskrank.errors import UsageError

# Commands whose answer others wait for.
_ANSWER = ("gate", "trend")
_WRITES = ("output", "plot")


@contextmanager
def none_stale(context: Any, given: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """Take away what an earlier run wrote, if this one writes nothing; other files that are named stay.

    Parameters
    ----------
    context : typer.Context
    given : callable
        Values by the names of their options; what it raises says that they are not known, and all stays.
    """
    try:
        yield
    except (typer.Exit, SystemExit):  # help was shown
        raise
    except BaseException:
        if context.info_name in _ANSWER and not context.meta.get("riskrank.written"):
            _remove(given)
        raise


def _remove(given: Callable[[], Mapping[str, Any]]) -> None:
    from riskrank.scores.files.paths import named_files
    from riskrank.shown.files import remove

    with suppress(Exception):  # the error that is under way is the one to tell
        values = given()
        files = [*(values.get("output") or ())]
        for text in values.get("plot") or ():
            with suppress(UsageError):
                files.append(parts_of(text)[1])
        read = [_texts(value) for name, value in values.items() if name not in _WRITES]
        remove(files, named_files(text for texts in read for text in texts))


def _texts(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list | tuple) else [value]) if isinstance(one, str)]
