"""A report that people open: one HTML file with scores, comparisons and every image."""

from .content import Content, Material, gather
from .page import render_page

__all__ = ["Content", "Material", "gather", "render_page"]
