"""A report that people open: one HTML file with scores, comparisons and every image."""

from .content import Content, Material, gather
from .page import render_page
from .thumbnails import file_names, find_pictures

__all__ = ["Content", "Material", "file_names", "find_pictures", "gather", "render_page"]
