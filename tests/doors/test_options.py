"""An option is declared once: a command gets its option, and the record with the values."""

from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner

from vifidel_eval.commands.options import Command, record
from vifidel_eval.doors.arguments import INPUT, option


@dataclass(frozen=True)
class Coffee:
    """How somebody wants coffee."""

    strength: float | None = option(None, "How strong; `sugar` helps.", float, section=INPUT)
    milk: bool = option(True, "Leave the milk out.", bool, off="--black")
    sugars: tuple[str, ...] = option((), "Kinds of sugar.", str, name="sugar", several=True)
    beans: frozenset[str] = option(
        frozenset(), "File of beans.", read=lambda path: frozenset(path.read_text().split())
    )


@click.command(cls=Command)
@record(Coffee, "coffee", defaults={"strength": 0.5})
def order(coffee):
    """Order."""
    click.echo(repr(coffee))


def test_a_command_gets_the_record(tmp_path):
    beans = Path(tmp_path, "beans.txt")
    beans.write_text("arabica robusta")
    plain = CliRunner().invoke(order, [])
    assert plain.stdout == repr(Coffee(0.5)) + "\n"
    words = ["--black", "--sugar", "cane", "--sugar", "beet", "--strength", "1", "--beans"]
    given = CliRunner().invoke(order, [*words, str(beans)])
    built = Coffee(1.0, False, ("cane", "beet"), frozenset({"arabica", "robusta"}))
    assert given.stdout == repr(built) + "\n"
    assert "How strong; --sugar helps." in CliRunner().invoke(order, ["--help"]).stdout
    assert CliRunner().invoke(order, ["--strength", "2"]).exit_code == 2
