"""kb expert stability, kb expert recalibrate: the weights and thresholds of context stability (CSWR)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.terminal import say, styled

if TYPE_CHECKING:  # annotations alone: kb expert relevance opens no knowledge base
    from kb.stability_thresholds import DomainThreshold, Stability

app = typer.Typer(
    help="Context stability: the weights and thresholds in force, and their recalibration from past answers.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command()
@command
def show(invocation: Invocation) -> None:
    """The weights of the axes and each domain's threshold."""
    with invocation.base(invocation.config()) as base:
        invocation.emit(base.stability(), _print_stability)


@app.command()
@command
def recalibrate(
    invocation: Invocation,
    reset: Annotated[bool, typer.Option("--reset", help="go back to the configured thresholds")] = False,
) -> None:
    """Set each domain's threshold to the lower quartile of the stability of what past answers packed.

    A domain with fewer than 10 packed passages keeps its present threshold.
    """
    with invocation.base(invocation.config()) as base:
        invocation.emit(base.recalibrate(reset=reset), _print_stability)


def _print_stability(found: Stability) -> None:
    weights = ", ".join(f"{name} {weight:g}" for name, weight in found.weights.items())
    say(styled(f"weights: {weights}", "dim"))
    for domain in found.domains:
        say(f"{domain.domain:<8} {domain.threshold:.3f}  {styled(_origin(domain), 'dim')}")
    is_off = "" if found.keep_episodes else " (the log is off: cswr.keep_episodes turns it on)"
    say(styled(f"{found.episodes:,} of at most {found.keep_episodes:,} packings in the log{is_off}", "dim"))


def _origin(domain: DomainThreshold) -> str:
    if domain.computed_at is None:
        return "as configured"
    quartiles = ", ".join(f"{q:.3f}" for q in (domain.q25, domain.q50, domain.q75) if q is not None)
    return (
        f"from {domain.samples:,} packed passages on {domain.computed_at[:10]} (quartiles {quartiles};"
        f" configured {domain.configured:g})"
    )
