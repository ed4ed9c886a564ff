"""A recall packet as a context pack: markdown to paste into a prompt or a note.

Owns the one rendering whose size the budget bounds. Everything that came from notes stands between two marks, so that no note can
pass for an instruction: a note that holds the closing mark has it broken there. Never adds to, drops or shortens what the packet holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smb.interfaces.cli.packet_text import MISS_HINT, OUTCOMES, foot, label, packet_notes, where
from smb.interfaces.cli.page import Page

OPEN, CLOSE = "<notes>", "</notes>"


def packet_markdown(packet: Mapping[str, Any], page: Page) -> str:
    """The context pack, fit for a terminal."""
    return page.style(context_pack(packet))


def context_pack(packet: Mapping[str, Any]) -> str:
    """The question, how to read what follows, then the data block: the answer, the items and what no longer holds, each under its
    id and places, each quote once. The items are what `tokens` counts."""
    lines = [f"# {_line(packet['query'])}", ""]
    if outcome := OUTCOMES.get(packet["outcome"]):
        lines += [outcome.format(budget=packet["budget"]) + (f" {MISS_HINT}" if packet["outcome"] == "miss" else ""), ""]
    for note in packet_notes(packet):
        lines += [f"> [!warning] {_line(note)}", ""]
    if packet["answer_instructions"]:
        lines += [packet["answer_instructions"], ""]
    for conflict in packet["conflicts"]:
        lines += [f"In conflict: {_ids(conflict['items'])}", ""]
    if packet["superseded"]:
        lines += [f"No longer so: {_ids(packet['superseded'])}", ""]
    if packet["items"] or packet["superseded"]:
        lines += [OPEN, *(line.replace(CLOSE, "</ notes>") for line in _data(packet)), CLOSE, ""]
    return "\n".join([*lines, foot(packet)]).rstrip() + "\n"


def _data(packet: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if answer := packet.get("answer"):
        places = ", ".join(dict.fromkeys(map(where, answer["citations"])))
        lines += [f"**Answer:** {_line(str(answer['value']))}{f' ({places})' if places else ''}", ""]
    held = {item["id"] for item in packet["items"]}
    for items in (packet["items"], [item for item in packet["superseded"] if item["id"] not in held]):
        shown: set[tuple[str, int, str]] = set()  # what no longer holds is counted apart, so it is quoted apart
        for item in items:
            fresh = [c for c in item["citations"] if (c["source"], c["line_start"], c["quote"]) not in shown]
            shown.update((c["source"], c["line_start"], c["quote"]) for c in fresh)
            said = " ".join(item["text"].split())
            lines += [label(item), item["text"], *(f"> {c['quote']}" for c in fresh if " ".join(c["quote"].split()) not in said), ""]
    return lines


def _ids(items: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"[{item['id']}]" for item in items)


def _line(text: str) -> str:
    return " ".join(text.split())
