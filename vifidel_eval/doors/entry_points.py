"""Entry points: the doors by which metrics, commands and services of packages join the core.

The plug-ins of this package (`vifidel_eval.plugins`) use the doors of other packages: setup.py
declares them. A package declares

- a metric in the group ``vifidel_eval.metrics``: its name, and the module that registers it;
- a command in the group ``vifidel_eval.commands``: its name, and a `click.Command`;
- formats of objects in the group ``vifidel_eval.formats``: their name, and a sequence of `Format`;
- layouts of captions in the group ``vifidel_eval.layouts``: their name, and a sequence of `Layout`;
- a service in the group ``vifidel_eval.services``: what the core asks for in the middle of a run.

The services:

- ``class_names(path)`` returns the `CategoryNames` that a file lists;
- ``detector(settings, paths, systems)`` returns `Settings` whose objects are what a detector found
  in the pictures among the paths;
- ``controls(path)`` reads a file of answered questions, and ``calibrated(run, controls, seed,
  resamples)`` returns the run with rates corrected by them;
- ``attributes(labels, source, categories)`` returns object labels with the attributes that a source
  has of them;
- ``backends()`` returns what can run detectors here: names with versions, or how to install them;
- ``leaderboard`` has ``read(path)`` and ``add(path, scores, systems, images, day)``;
- ``lmms_eval`` is the folder with the task for lmms-eval;
- ``treebank_tokenizer()`` returns the `CaptionTokenizer` of pycocoevalcap, if it runs here;
- ``vectors_of_file(source, trust_pickles)`` and ``vectors_of_gensim(keyed_vectors)`` return
  `WordVectors`.

docs/python.md has whole packages as examples.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from ..errors import VifidelError

#: The groups of entry points.
METRICS = "vifidel_eval.metrics"
COMMANDS = "vifidel_eval.commands"
FORMATS = "vifidel_eval.formats"
LAYOUTS = "vifidel_eval.layouts"
SERVICES = "vifidel_eval.services"

_PLUGINS = "vifidel_eval.plugins."


def declared(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name; several where packages claim the same name.

    Names that differ only in case are the same name.
    """
    by_name: dict[str, list[EntryPoint]] = {}
    spelled: dict[str, str] = {}
    for entry in sorted(
        entry_points(group=group), key=lambda entry: (entry.name, package_of(entry))
    ):
        by_name.setdefault(spelled.setdefault(entry.name.lower(), entry.name), []).append(entry)
    return by_name


def package_of(entry: EntryPoint) -> str:
    """Return the name of the package that declares an entry point."""
    return entry.value if entry.dist is None else entry.dist.name


def is_ours(entry: EntryPoint) -> bool:
    """Return whether an entry point leads to a plug-in of this package."""
    return entry.module.startswith(_PLUGINS)


def not_installed(entry: EntryPoint) -> str:
    """Return what to say of one of our plug-ins whose folder is missing, otherwise ``""``."""
    if not is_ours(entry):
        return ""
    plugin = entry.module.removeprefix(_PLUGINS).partition(".")[0]
    try:
        is_there = find_spec(_PLUGINS + plugin) is not None
    except ModuleNotFoundError:  # of all plug-ins
        is_there = False
    if is_there:
        return ""
    return (
        f"{entry.name} is not installed: the folder plugins/{plugin} of vifidel_eval is missing; "
        "install vifidel-eval again."
    )


def loaded(kind: str, entries: list[EntryPoint]) -> Any:
    """Return what the entry points of one name lead to.

    Raises a VifidelError of one sentence if several packages claim the name, or if what one
    declares cannot be imported.
    """
    entry, *others = entries
    packages = " and ".join(map(package_of, entries))
    if others:
        raise VifidelError(
            f"the packages {packages} each have a {kind} {entry.name}; uninstall all but one of "
            "them to use it."
        )
    if missing := not_installed(entry):
        raise VifidelError(missing)
    try:
        return entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # whatever somebody else's module may raise
        if is_ours(entry):
            raise
        line = str(problem).partition("\n")[0].rstrip(".")
        why = f"importing {entry.value} fails ({type(problem).__name__}: {line})"
        raise unusable(kind, entry, why) from problem


def unusable(kind: str, entry: EntryPoint, why: str) -> VifidelError:
    """Return the error of a package's metric, command or service that cannot be used."""
    return VifidelError(
        f"the {kind} {entry.name} of the package {package_of(entry)} cannot be used: {why}; update "
        "or uninstall that package."
    )


@cache  # looking for entry points takes 10 ms, longer than reading the captions of many images
def of_plugins(group: str) -> list[Any]:
    """Return the formats or layouts that packages declare in a group, first those of others."""
    groups = [entries for entries in declared(group).values() if not not_installed(entries[0])]
    groups.sort(key=lambda entries: is_ours(entries[0]))
    return [each for entries in groups for each in loaded(group.rpartition(".")[2], entries)]


def service(name: str) -> Any:
    """Return the service that a package provides under a name.

    Raises a VifidelError if none does, or if it cannot be imported.
    """
    entries = declared(SERVICES).get(name)
    if entries is None:
        raise VifidelError(
            f"no installed package provides the service {name!r}; install vifidel-eval again."
        )
    return loaded("service", entries)
