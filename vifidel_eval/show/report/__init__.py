"""A report that people open: one HTML file with scores, comparisons and every image."""

from .content import Content, gather
from .page import render_page

__all__ = ["Content", "gather", "render_page"]
