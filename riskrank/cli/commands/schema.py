"""The ``riskrank schema`` command, which prints the JSON Schema of a command's output document."""

import json

from riskrank.cli.interrupts import ignore_interrupts
from riskrank.cli.typer_functions import Call
from riskrank.errors import UsageError, listing
from riskrank.render.files import check_outputs, write_all
from riskrank.render.schema import json_schema


def run(call: Call) -> None:
    """Print the schema, or write it to files."""
    if len(call.scores) > 1:
        raise UsageError(
            "schema needs one command",
            found=listing(call.scores),
            hint=f"write riskrank schema {call.scores[0]}",
        )
    environment = call.context.obj
    files = call.output.output or (None,)
    check_outputs(
        {"output": call.output.output}, [environment.loaded_config] if environment.loaded_config else []
    )
    text = json.dumps(json_schema(call.scores[0]), indent=2, ensure_ascii=False) + "\n"
    results = [(file, text.encode("utf-8")) for file in files]
    write_all(results, environment.stdout, before_rename=ignore_interrupts)
