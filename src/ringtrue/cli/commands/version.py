"""`ringtrue version`."""

from __future__ import annotations

import click

from ringtrue._version import __version__
from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.formatting.grid import Grid


@click.command("version", cls=Command)
@output_options
def command(form: OutputFormat) -> None:
    """Which version is this?"""
    emit(form, payload={"version": __version__}, grid=Grid(columns=["ringtrue"], rows=[[__version__]]))
