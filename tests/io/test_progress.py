"""Bars and phases of runs that take long."""

import io
import time
import warnings

from vifidel_eval.io.progress import phase, progress_bar


def test_phases_appear_after_a_second_and_warnings_are_on_their_own_lines(monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    with phase("Quick"):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: screen.write(f"Warning: {message}\n")
        with progress_bar(2, desc="Slow") as bar:
            while "Slow" not in screen.getvalue():
                time.sleep(0.05)  # it is not moved
            warnings.warn("careful", stacklevel=1)
            bar.update()
    assert "Quick" not in screen.getvalue()
    shown = screen.getvalue().split("\n")[0].split("\r")
    assert shown[-1] == "Warning: careful"
    assert not shown[-2].strip()  # the bar has made room
    assert screen.getvalue().endswith("\r")
