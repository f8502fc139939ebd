"""Files in and out: containers, image ids, tables as text, locks and records of runs."""
