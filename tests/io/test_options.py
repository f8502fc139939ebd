"""An option is declared once: signature, docstring, command and help follow from its field."""

import inspect
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner

from vifidel_eval.commands.options import Command, record
from vifidel_eval.io.options import INPUT, option, taking


@dataclass(frozen=True)
class Coffee:
    """How somebody wants coffee."""

    strength: float | None = option(None, "How strong; `sugar` helps.", float, section=INPUT)
    milk: bool = option(True, "Leave the milk out.", bool, off="--black")
    sugars: tuple[str, ...] = option((), "Kinds of sugar.", str, name="sugar", several=True)
    beans: frozenset[str] = option(
        frozenset(), "File of beans.", read=lambda path: frozenset(path.read_text().split())
    )


@taking(Coffee, omit=["beans"])
def brew(cups=1, **settings):
    """Brew.

    Parameters
    ----------
    cups : int
        How many.
    **settings
        These, and no others.

    Returns
    -------
    Coffee
    """
    return cups, settings


@click.command(cls=Command)
@record(Coffee, "coffee", defaults={"strength": 0.5})
def order(coffee):
    """Order."""
    click.echo(repr(coffee))


def test_a_function_has_the_options_by_name():
    assert list(inspect.signature(brew).parameters) == ["cups", "strength", "milk", "sugar"]
    assert brew(2, sugar="cane") == (2, {"sugar": "cane"})
    assert "strength : float, optional\n    How strong; `sugar` helps.\n" in brew.__doc__
    assert "False is ``--black``: Leave the milk out." in brew.__doc__
    assert "no others" not in brew.__doc__
    assert brew.__doc__.index("cups : ") < brew.__doc__.index("sugar : ") < len(brew.__doc__)


def test_a_command_gets_the_record(tmp_path):
    beans = Path(tmp_path, "beans.txt")
    beans.write_text("arabica robusta")
    plain = CliRunner().invoke(order, [])
    assert plain.stdout == repr(Coffee(0.5)) + "\n"
    words = ["--black", "--sugar", "cane", "--sugar", "beet", "--strength", "1", "--beans"]
    given = CliRunner().invoke(order, [*words, str(beans)])
    made = Coffee(1.0, False, ("cane", "beet"), frozenset({"arabica", "robusta"}))
    assert given.stdout == repr(made) + "\n"
    assert "How strong; --sugar helps." in CliRunner().invoke(order, ["--help"]).stdout
    assert CliRunner().invoke(order, ["--strength", "2"]).exit_code == 2
