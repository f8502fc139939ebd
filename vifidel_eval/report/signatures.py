"""Signatures for people: what metrics share is said once."""

from __future__ import annotations

from collections.abc import Iterable


def folded(signatures: Iterable[str], width: int) -> list[str]:
    """Return lines that say each part of signatures once, with the metrics that have it.

    A metric's own parts follow its name; those that several metrics have follow all their names.

    Parameters
    ----------
    signatures : iterable of str
        Such as ``"WMD|p:1|norm:yes"``.
    width : int
        Lines are broken between parts so that they have no more characters, where that is possible.

    Examples
    --------
    >>> folded(["VIFIDEL|refs:yes|version:1", "WMD|p:1|version:1", "BLEU|tok:ptb|version:1"], 80)
    ['VIFIDEL|refs:yes', 'WMD|p:1', 'BLEU|tok:ptb', 'All: version:1']
    """
    whole = list(dict.fromkeys(signatures))
    # Those of combinations hold those of their parts, and one metric may have two.
    plain = [signature for signature in whole if "(" not in signature]
    names = [signature.partition("|")[0] for signature in plain]
    if len(set(names)) < len(names) or len(plain) < 2:
        return [line for signature in whole for line in _broken(signature, width)]
    parts = {signature.partition("|")[0]: signature.split("|")[1:] for signature in plain}
    owners: dict[str, list[str]] = {}
    for name, of_metric in parts.items():
        for part in dict.fromkeys(of_metric):
            owners.setdefault(part, []).append(name)
    lines = []
    for name, of_metric in parts.items():
        own = [part for part in of_metric if len(owners[part]) == 1]
        if own:
            lines.append("|".join([name, *own]))
    shared: dict[tuple[str, ...], list[str]] = {}
    for part, of_part in owners.items():
        if len(of_part) > 1:
            shared.setdefault(tuple(of_part), []).append(part)
    for of_parts, members in sorted(shared.items(), key=lambda item: len(item[0])):
        who = "All" if len(of_parts) == len(whole) else ", ".join(of_parts)
        lines.append(f"{who}: {'|'.join(members)}")
    lines += [signature for signature in whole if signature not in plain]
    return [broken for line in lines for broken in _broken(line, width)]


def _broken(line: str, width: int) -> list[str]:
    """Return a line in pieces that fit, broken before bars and indented."""
    pieces: list[str] = []
    for number, part in enumerate(line.split("|")):
        text = part if number == 0 else f"|{part}"
        if pieces and len(pieces[-1]) + len(text) <= width:
            pieces[-1] += text
        else:
            pieces.append(f"  {text}" if pieces else text)
    return pieces
