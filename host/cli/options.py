"""Options that several commands take."""

from __future__ import annotations

import click

LEAST_WINDOW = 2_000  # tokens

model_option = click.option(
    "--model", metavar="NAME", help="Ask this model instead of model.name; scripted:FILE plays the replies in a file."
)
engine_option = click.option("--engine", metavar="NAME", help="Engine to use instead of context.engine.")
window_option = click.option(
    "--window", type=click.IntRange(min=LEAST_WINDOW), metavar="N", help="Context window in tokens (default: the model's)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
