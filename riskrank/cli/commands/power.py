"""The ``riskrank power`` command: power planning from a pilot table or from named distributions."""

from collections.abc import Iterator
from dataclasses import replace

from riskrank.cli.session import Session, checked_settings
from riskrank.cli.typer_functions import Call
from riskrank.options.option import options_of
from riskrank.options.suites import SuiteSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.power.study import parse_distributions, power_between, refuse_table_options

# Options that apply only to tables.
_TABLE_OPTIONS = (*options_of(PortfolioSettings), *options_of(SuiteSettings))


def run(call: Call) -> None:
    """Run a power study for the named distributions, or for a pilot table if there are none."""
    distributions = parse_distributions(call.scores)
    if not distributions:
        session = Session(call)
        session.finish(session.study(checked_settings(call)))
        return
    refuse_table_options(_used_table_options(call))
    session = Session(replace(call, scores=[]))
    session.check_memory()
    # A configuration may set options for tables, which do not apply here.
    standard = {opt.name: opt.default for opt in _TABLE_OPTIONS}
    with session.runtime() as runtime:
        document = power_between(distributions, replace(checked_settings(call), **standard), runtime)
    session.finish(document)


def _used_table_options(call: Call) -> Iterator[str]:
    """Yield the reading options that were set on the command line to a non-default value."""
    for opt in (*options_of(call.row.reading_type), *_TABLE_OPTIONS):
        source = getattr(call.context.get_parameter_source(opt.name), "name", "")
        if source == "COMMANDLINE" and call.values.get(opt.name) not in (None, opt.default):
            yield opt.name.rstrip("_")
