"""The help of commands as the pages in ``docs`` print it."""

from __future__ import annotations

import click

from host.cli import cli

WIDTH = 100  # characters of a line


def help_page(*words: str) -> str:
    """What ``ctxhost WORDS --help`` prints, as a code block."""
    context = _context(*words)
    return f"```text\n{context.get_help()}\n```"


def command_table(group: str) -> str:
    """The commands of a group with their arguments and first sentences, as a Markdown table."""
    context = _context(group)
    commands = context.command
    assert isinstance(commands, click.Group)
    rows = [_row(command, context) for name in commands.list_commands(context) if (command := commands.get_command(context, name))]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def _context(*words: str) -> click.Context:
    context = click.Context(cli, info_name="ctxhost", terminal_width=WIDTH, help_option_names=cli.context_settings["help_option_names"])
    for word in words:
        group = context.command
        command = group.get_command(context, word) if isinstance(group, click.Group) else None
        if command is None:
            raise KeyError(word)
        context = click.Context(command, info_name=word, parent=context)
    return context


def _row(command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=command.name, parent=parent)
    given = [part for part in command.collect_usage_pieces(context) if part != "[OPTIONS]"]
    words = " ".join([command.name or "", *given]).replace("|", "\\|")
    return f"| `{words}` | {command.get_short_help_str(limit=200)} |"
