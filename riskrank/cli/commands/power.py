"""``riskrank power``: a pilot table, or distributions in its place."""

from collections.abc import Iterator
from dataclasses import replace

from riskrank.cli.session import Session, settled
from riskrank.cli.typer_functions import Call
from riskrank.options.option import options_of
from riskrank.options.suites import SuiteSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.power.distributions import named_distributions, refuse_table_options
from riskrank.studies.power.study import power_between

# What is asked of a table only.
_OF_TABLES = (*options_of(PortfolioSettings), *options_of(SuiteSettings))


def run(call: Call) -> None:
    """Plan between distributions where some are named, else with a pilot."""
    distributions = named_distributions(call.scores)
    if not distributions:
        session = Session(call)
        session.finish(session.study(settled(call)))
        return
    refuse_table_options(_given_for_tables(call))
    session = Session(replace(call, scores=[]))
    session.require_room()
    # A configuration may hold some for tables.
    standard = {one.name: one.default for one in _OF_TABLES}
    with session.runtime() as runtime:
        document = power_between(distributions, replace(settled(call), **standard), runtime)
    session.finish(document)


def _given_for_tables(call: Call) -> Iterator[str]:
    """Names of the options for tables the command line gave, but for their defaults."""
    for one in (*options_of(call.row.reading_type), *_OF_TABLES):
        source = getattr(call.context.get_parameter_source(one.name), "name", "")
        if source == "COMMANDLINE" and call.values.get(one.name) not in (None, one.default):
            yield one.name.rstrip("_")
