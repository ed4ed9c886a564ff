"""A packet as text for a person and as a context pack for a model.

Owns the two renderings. Never adds, drops or shortens what the packet holds. In the context pack everything that came
from notes stands between two marks, so that no note can pass for an instruction: a note that holds the closing mark has
it broken there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPEN, CLOSE = "<notes>", "</notes>"


def to_text(packet: Mapping[str, Any]) -> str:
    """Compact and plain: rank, title, verdict, text, places. Ends with a newline."""
    lines: list[str] = []
    if answer := packet["answer"]:
        lines += [f"{answer['value']}  ({', '.join(_where(c) for c in answer['citations'])})", ""]
    if packet["outcome"] != "state":
        lines += [f"{packet['outcome']}: {packet['reason']}" if packet.get("reason") else str(packet["outcome"]), ""]
    for item in (*packet["items"], *packet["superseded"]):
        verdict = "" if item["verdict"] == "current" else f"  [{item['verdict']}]"
        lines.append(f"{item['rank']}. {item['title']}{verdict}")
        lines += [f"   {line}" for line in item["text"].splitlines() if line.strip()]
        lines.append(f"   {', '.join(_where(c) for c in item['citations'])}")
    return "\n".join(lines).rstrip() + "\n"


def to_markdown(packet: Mapping[str, Any]) -> str:
    """The context pack: how to read it, then the data block. What stands in the block counts against the budget."""
    lines = [packet["answer_instructions"], "", OPEN]
    shown: set[tuple[str, int, str]] = set()
    for item in packet["items"]:
        facts = "" if item["verdict"] == "current" else f" ({item['verdict']})"
        lines.append(_data(f"[{item['id']}] {', '.join(_where(c) for c in item['citations'])}{facts}"))
        fresh = [c for c in item["citations"] if (c["source"], c["line_start"], c["quote"]) not in shown]
        lines.append(_data(item["text"]))
        lines += [_data(f"> {c['quote']}") for c in fresh if " ".join(c["quote"].split()) not in " ".join(item["text"].split())]
        shown.update((c["source"], c["line_start"], c["quote"]) for c in fresh)
        lines.append("")
    if not packet["items"]:
        lines.append(f"({packet['outcome']}: nothing to show)")
    lines.append(CLOSE)
    return "\n".join(lines) + "\n"


def _data(text: str) -> str:
    return text.replace(CLOSE, "</ notes>")


def _where(citation: Mapping[str, Any]) -> str:
    first, last = citation["line_start"], citation["line_end"]
    return f"{citation['path']}:{first}" + (f"-{last}" if last > first else "")
