"""Optional parts: they join the core by entry points, as other packages do."""
