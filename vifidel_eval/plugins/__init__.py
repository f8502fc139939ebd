"""What the core does without; all of it joins by entry points, as other packages do."""
