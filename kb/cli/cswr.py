"""kb expert stability, kb expert recalibrate: how well passages hold together, and the thresholds that this is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation, command

if TYPE_CHECKING:
    from kb.cswr import DomainThreshold, Stability

app = typer.Typer(
    help="Context stability: the weights and thresholds in force, and their recalibration from past answers.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command()
@command
def show(invocation: Invocation) -> None:
    """The weights of the axes and each domain's threshold."""
    from kb.cswr import read_stability

    with invocation.open(invocation.config()) as kb:
        _print(invocation, read_stability(kb))


@app.command()
@command
def recalibrate(
    invocation: Invocation,
    reset: Annotated[bool, typer.Option("--reset", help="go back to the configured thresholds")] = False,
) -> None:
    """Set each domain's threshold to the lower quartile of the stability of what past answers packed.

    A domain with fewer than 10 packed passages keeps its present threshold.
    """
    from kb import cswr

    config = invocation.config()
    invocation.open(config).close()  # a home that is not there is an error, not made
    with invocation.open(config, write=True) as kb:
        _print(invocation, cswr.reset(kb) if reset else cswr.recalibrate(kb))


def _print(invocation: Invocation, found: Stability) -> None:
    from kb.cli.terminal import say, styled

    if invocation.json:
        from kb.wire import to_json

        print(to_json(found))
        return
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
