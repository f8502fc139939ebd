"""The packages of docs/python.md, installed for a test."""

from __future__ import annotations

import re
from pathlib import Path

import vifidel_eval

PAGE = Path(__file__).parents[1] / "docs" / "python.md"


def example(heading="A metric of your own"):
    """Return the module and the ``pyproject.toml`` of a section, under a name of the test's own."""
    section = PAGE.read_text("utf-8").partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    section = section.replace("LENGTH", "LETTERS").replace("length_weight", "letters_weight")
    (module,) = re.findall(r"```python\n(.*?)```", section, re.S)
    (project,) = re.findall(r"```toml\n(.*?)```", section, re.S)
    return module, project


def install(folder, modules, project):
    """Install modules as an installer does: with their entry points in a ``dist-info``.

    Parameters
    ----------
    folder : Path
        It is to be on ``sys.path``.
    modules : mapping
        Name to text.
    project : str
        A ``pyproject.toml`` that lists no other modules.
    """
    name, version = (
        re.search(rf'^{key} = "(.*)"$', project, re.M)[1] for key in ("name", "version")
    )
    assert re.findall(r"^py-modules = (.*)$", project, re.M) == [
        f"[{', '.join(map(_quoted, modules))}]"
    ]
    (points,) = re.findall(r'^\[project\.entry-points\."(.*)"\]\n((?:.+\n)+)', project, re.M)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, "utf-8")
    text = f"[{points[0]}]\n{points[1].replace(chr(34), '')}"
    (info / "entry_points.txt").write_text(text, "utf-8")
    for module, content in modules.items():
        (folder / f"{module}.py").write_text(content, "utf-8")


def package(folder, metric, module, content, name=None):
    """Install a package of one module with the entry point of one metric."""
    project = (
        f'[project]\nname = "{name or module}"\nversion = "1.0"\n\n'
        f'[project.entry-points."vifidel_eval.metrics"]\n{metric} = "{module}"\n\n'
        f'[tool.setuptools]\npy-modules = ["{module}"]\n'
    )
    install(folder, {module: content}, project)


def mean(captions):
    """Return LETTERS of a system; for a worker process, which has imported nothing."""
    return vifidel_eval.evaluate({"x": captions}, metrics="LETTERS").scores["x"]["LETTERS"]


def scores(scorer, captions):
    """Return the scores of a scorer that a worker process was given."""
    return scorer.score(captions).tolist()


def _quoted(name):
    return f'"{name}"'
