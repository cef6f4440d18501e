"""kb expert: commands that explain and tune context relevance and context stability."""

from __future__ import annotations

import typer

from kb.cli.cswr import recalibrate, show
from kb.cli.relevance import relevance

app = typer.Typer(
    help="Look into context relevance and context stability, and tune them.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.command("relevance")(relevance)
app.command("stability")(show)
app.command("recalibrate")(recalibrate)
