"""``riskrank schema``: what the JSON document of a command looks like."""

import json

from riskrank.cli.interrupts import settle_interrupts
from riskrank.cli.typer_functions import Call
from riskrank.errors import UsageError, listing
from riskrank.render.files import check_outputs, write_all
from riskrank.render.schema import json_schema


def run(call: Call) -> None:
    """Print the schema, or write it."""
    if len(call.scores) > 1:
        raise UsageError(
            "one schema at a time", found=listing(call.scores), hint=f"write riskrank schema {call.scores[0]}"
        )
    environment = call.context.obj
    files = call.output.output or (None,)
    check_outputs({"output": call.output.output}, [environment.read] if environment.read else [])
    text = json.dumps(json_schema(call.scores[0]), indent=2, ensure_ascii=False) + "\n"
    results = [(file, text.encode("utf-8")) for file in files]
    write_all(results, environment.stdout, before_rename=settle_interrupts)
