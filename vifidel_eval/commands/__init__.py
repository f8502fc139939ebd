"""The subcommands of ``vifidel-eval``, one per file; heavy libraries load when one runs."""
