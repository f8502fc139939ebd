"""The subcommands of ``vifidel-eval``, one a file; heavy libraries load when one runs."""
