"""kb eval tune: learn the weights of the fusion from a suite, and write them where they find more."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.invocation import Invocation, command
from kb.cli.terminal import harmless_line, say
from kb.config import commented_toml, set_keys, user_config_path
from kb.config.keys import environment_name
from kb.errors import ExitCode
from kb.eval.suite import load_suite
from kb.records import Filters

if TYPE_CHECKING:  # loaded by the command, and heavy
    from kb.eval.tune import Tuning

VERDICTS = {
    "gain": "the gain is real: its interval lies above 0",
    "no_gain": "no gain to be sure of: the weights stay as they are",
    "too_few": "too few questions to tell: label {least} or more",
}


@command
def tune(
    invocation: Invocation,
    filters: Filters,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="a suite's YAML file")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only print; leave the config as it is")] = False,
) -> None:
    """Learn the weights of the hybrid search from a suite, and write them to the config where they find more."""
    from kb.eval.tune import LEAST_QUESTIONS, tune_suite

    config = invocation.config()
    with invocation.open(config) as kb:
        kb.require_documents()
        loaded = load_suite(Path(suite))
        tuning = tune_suite(kb, loaded, filters)
    if tuning.verdict == "gain" and not dry_run:
        path = _config_in_force(invocation)
        _write(path, tuning)
        tuning = replace(tuning, written=str(path))
    invocation.emit(tuning, lambda found: print_tuning(found, LEAST_QUESTIONS))
    for key in tuning.best.weights if tuning.written else ():
        if (variable := environment_name(f"search.{key}")) in os.environ:
            invocation.notify(f"note: {variable} is set, and wins over the config")
    if tuning.verdict != "gain":
        raise typer.Exit(ExitCode.NOTHING)


def _config_in_force(invocation: Invocation) -> Path:
    """The file that the configuration was read from; the home's own, to be created, where there is none."""
    own = invocation.home / "config.toml"
    users = user_config_path(os.environ)
    return invocation.config_path or (users if users.is_file() and not own.is_file() else own)


def _write(path: Path, tuning: Tuning) -> None:
    """Set the weights in a config file, which is replaced as a whole."""
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else commented_toml(live=False)
    changed = set_keys(text, {f"search.{key}": value for key, value in tuning.best.weights.items()})
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.write_text(changed, encoding="utf-8")
    unfinished.replace(path)


def print_tuning(tuning: Tuning, least: int) -> None:
    """The weights in use and the best ones, what those gain, and what was done."""
    say(f"{harmless_line(tuning.suite)}: {tuning.questions} labelled questions, {tuning.metric}")
    for label, row in (("in use", tuning.current), ("best", tuning.best)):
        weights = "  ".join(f"{key} {value:g}" for key, value in row.weights.items())
        say(f"{label:<7} {weights}  {row.mean:.4f}")
    say(f"gain on questions held out: {tuning.gain:+.4f} [{tuning.ci_low:+.4f}, {tuning.ci_high:+.4f}]")
    done = f"; written to {harmless_line(tuning.written)}" if tuning.written else ""
    say(VERDICTS[tuning.verdict].format(least=least) + done)
