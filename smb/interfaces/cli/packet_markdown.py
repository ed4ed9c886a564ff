"""A recall packet as markdown, to paste into a note or a prompt: every item with its quotes and their places.

What comes from notes stands in a marked data block, which no note's text can close.
"""

from __future__ import annotations

from typing import Any

from smb.interfaces.cli.packet_text import MISS_HINT, OUTCOMES, foot, key_text, packet_notes, period, where
from smb.interfaces.cli.page import Page

OPEN, CLOSE = "<notes>", "</notes>"


def packet_markdown(packet: dict[str, Any], page: Page) -> str:
    """The packet as markdown."""
    lines = [f"# {_line(packet['query'])}", ""]
    answer = packet.get("answer")
    if answer:
        places = ", ".join(f"`{where(citation)}`" for citation in answer["citations"])
        lines += [f"**Answer:** {_line(str(answer['value']))} {f'({places})' if places else ''}".rstrip(), ""]
    outcome = OUTCOMES.get(packet["outcome"])
    if outcome:
        lines += [outcome.format(budget=packet["budget"]) + (f" {MISS_HINT}" if packet["outcome"] == "miss" else ""), ""]
    for note in packet_notes(packet):
        lines += [f"> [!warning] {_line(note)}", ""]
    data: list[str] = []
    for conflict in packet["conflicts"]:
        data += [f"## Conflict: {_line(key_text(conflict['key']))}", "", *_items(conflict["items"])]
    if packet["items"]:
        data += ["## Evidence", "", *_items(packet["items"])]
    if packet["superseded"]:
        data += ["## No longer so", "", *_items(packet["superseded"])]
    if data:
        lines += [OPEN, "", *(line.replace(CLOSE, "</ notes>") for line in data), CLOSE, ""]
    if packet["answer_instructions"]:
        lines += ["## How to answer", "", packet["answer_instructions"], ""]
    lines.append(foot(packet))
    return page.style("\n".join(lines).rstrip())


def _items(items: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for number, item in enumerate(items, start=1):
        facts = ", ".join(fact for fact in (item["type"], item["verdict"], period(item)) if fact)
        lines.append(f"{number}. **{_line(item['title'])}** ({facts})")
        quotes = [citation["quote"].strip() for citation in item["citations"]]
        text = item["text"].strip()
        if text and text not in quotes and text != item["title"]:
            lines += ["", *(f"   {line}" for line in text.splitlines())]
        for quote, citation in zip(quotes, item["citations"], strict=True):
            lines += ["", *(f"   > {line}".rstrip() for line in quote.splitlines()), f"   > — `{where(citation)}`"]
        lines.append("")
    return lines


def _line(text: str) -> str:
    return " ".join(text.split())
