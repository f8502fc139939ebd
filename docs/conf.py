"""The documentation site: ``sphinx-build -W docs docs/_build``, with the extra ``docs``."""

import vifidel_eval
from vifidel_eval.project import ADDRESS

project = "vifidel_eval"
author = "the vifidel_eval authors"
project_copyright = "2026, the vifidel_eval authors"
version = release = vifidel_eval.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
default_role = "py:obj"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# Heavy libraries that a reader of the pages does not need.
autodoc_mock_imports = ["pyspark", "torch", "torchmetrics"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken and returned
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"vifidel_eval {release}"
if ADDRESS:
    html_theme_options = {
        "source_repository": f"{ADDRESS}/",
        "source_branch": "main",
        "source_directory": "docs/",
    }
