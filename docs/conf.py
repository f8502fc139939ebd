"""The documentation site: ``sphinx-build -W docs docs/_build``, with the extra ``docs``."""

import re
import sys
from pathlib import Path

import scipy.stats  # noqa: F401  (before PyTorch is mocked: it looks at its classes)
from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.docutils import SphinxDirective

import vifidel_eval
from vifidel_eval.project import ADDRESS

sys.path.insert(0, str(Path(__file__).parent))
from generated import PARTS

project = "vifidel_eval"
author = "the vifidel_eval authors"
project_copyright = "2026, the vifidel_eval authors"
version = release = vifidel_eval.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
default_role = "py:obj"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4

# Heavy libraries that a reader of the pages does not need.
autodoc_mock_imports = ["pyspark", "torch", "torchmetrics"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken and returned
numpydoc_show_class_members = False

html_math_renderer = "mathml"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["phone.css"]
html_js_files = ["cards.js"]
html_title = f"vifidel_eval {release}"
if ADDRESS:
    html_theme_options = {
        "source_repository": f"{ADDRESS}/",
        "source_branch": "main",
        "source_directory": "docs/",
    }

#: Pages of version 0.3.0 that are now a section of another page.
MOVED = {
    "answers": "captions.html#answers-of-language-models",
    "beside-other-tools": "recipes.html#beside-other-tools",
    "chair": "metrics.html#chair",
    "dependencies": "benchmarks.html#dependencies-and-their-sizes",
    "detect": "objects.html#questions-and-pictures",
    "fidelity": "metrics.html#vifidel-prf",
    "fidelity-experiments": "experiments.html",
    "objects-from-anything": "objects.html#objects-from-anything",
    "questions": "errors.html#questions-and-answers",
    "speed": "benchmarks.html#speed",
    "submission": "captions.html#submissions-to-servers",
    "tiger": "metrics.html#tiger",
    "troubleshooting": "errors.html",
    "vectors": "recipes.html#word-vectors",
    "vilbertscore": "metrics.html#vilbertscore",
    "your-own": "python.html#a-metric-or-a-command-of-your-own",
}
#: To the section that was asked for, if the new page has it.
REDIRECT = """<!doctype html><meta charset="utf-8"><title>Moved</title>
<link rel="canonical" href="{target}">
<script>
const sections = {sections};
const asked = location.hash.slice(1);
location.replace("{page}#" + (sections.includes(asked) ? asked : "{anchor}"));
</script>
<noscript><meta http-equiv="refresh" content="0; url={target}"></noscript>
<a href="{target}">This page has moved.</a>
"""


def redirect(app, problem):
    """Write a page at every old address that leads to the new one."""
    if problem is None and app.builder.format == "html":
        for old, target in MOVED.items():
            page, _, anchor = target.partition("#")
            html = Path(app.outdir, page).read_text("utf-8")
            sections = re.findall(r'<section id="([\w-]+)"', html)
            text = REDIRECT.format(target=target, page=page, anchor=anchor, sections=sections)
            Path(app.outdir, f"{old}.html").write_text(text, encoding="utf-8")


class Generated(SphinxDirective):
    """Put a part of `PARTS` where the directive stands."""

    required_arguments = 1

    def run(self):
        """Return the nodes of the part."""
        text = "".join(PARTS[self.arguments[0]]())
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def formula(block):
    """Return a visitor that writes a formula as MathML, which needs no script from elsewhere."""

    def visit(self, node):
        self.body.append(tex2mathml(node.astext(), as_block=block))
        raise SkipNode

    return visit, None


def setup(app):
    """Add the directive and the formulas; redirect old addresses when the site is built."""
    app.add_html_math_renderer("mathml", formula(False), formula(True))
    app.add_directive("generated", Generated)
    app.connect("build-finished", redirect)
