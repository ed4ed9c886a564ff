"""A recall packet as a person reads it: the answer, what disagrees, the items with their places, what is outdated.

Never shortens a text or a quote: the packet is budgeted already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smb.interfaces.cli.page import Page

PLACES_SHOWN = 3

OUTCOMES = {
    "miss": "Nothing in the bank answers this.",
    "insufficient": "The bank holds a part of what this asks, not enough to answer it.",
    "conflict": "The bank's sources disagree.",
    "budget_infeasible": "The evidence does not fit into {budget} tokens. Ask again with a larger --budget.",
}
MEMBERED = ("LIST", "COUNT")  # operations whose answer is made of members
MISS_HINT = "Try other words, or `smb status` to see what has been read and `smb ingest PATH` to read more."


def packet_notes(packet: dict[str, Any]) -> list[str]:
    """What makes the answer less than whole: routes that failed, an index behind."""
    notes = [f"without the {one['route']} route: {one['reason']}" for one in packet["degraded"]]
    if packet["stale"]:
        notes.append("an index is behind the ledger, so something may be missing; `smb ingest --sync` catches it up")
    return notes


def packet_text(packet: dict[str, Any], page: Page) -> str:
    """The packet as text."""
    lines: list[str] = []
    answer = packet.get("answer")
    if answer:
        place = ", ".join(dict.fromkeys(map(where, answer["citations"])))
        lines += [f"{page.strong('Answer:')} {page.good(str(answer['value']))}  {page.place(place)}", ""]
    outcome = OUTCOMES.get(packet["outcome"])
    if outcome:
        lines.append(page.warning(outcome.format(budget=packet["budget"])))
        lines += [MISS_HINT] if packet["outcome"] == "miss" else [packet["reason"]] if "`smb " in (packet.get("reason") or "") else []
        lines.append("")
    elif packet.get("reason"):
        lines += [packet["reason"], ""]
    for conflict in packet["conflicts"]:
        lines.append(page.bad(f"Conflict: {conflict.get('title') or key_text(conflict['key'])}".rstrip(": ")))
        for item in conflict["items"]:
            lines += _item(item, page, packet)
        lines.append("")
    for item in packet["items"]:
        lines += _item(item, page, packet)
    if packet["items"]:
        lines.append("")
    if packet["superseded"]:
        lines.append(page.strong("No longer so"))
        for item in packet["superseded"]:
            lines += _item(item, page, packet, ranked=False)
        lines.append("")
    if "left_out" in packet:
        lines += [*_reading(packet, page), *_absent(packet, page)]
    footer = foot(packet)
    if footer:
        lines.append(page.faint(footer))
    return "\n".join(lines)


def where(citation: dict[str, Any]) -> str:
    """`path:3` or `path:3-5`."""
    start, end = citation["line_start"], citation["line_end"]
    return f"{citation['path']}:{start}" + (f"-{end}" if end > start else "")


def period(item: dict[str, Any]) -> str:
    """When the item held, as far as that is known."""
    start, end = day(item.get("valid_from")), day(item.get("valid_to"))
    return f"{start or '…'} to {end}" if end else f"since {start}" if start else ""


def label(item: Mapping[str, Any]) -> str:
    """The line above an item in a context pack: its id, its places and what is to be known of it. Its size counts (`recall.pack.label_of`)."""
    facts = [item["verdict"]] * (item["verdict"] != "current") + ["worked out"] * ("derived_from" in item)
    places = ", ".join(map(where, item["citations"]))
    return f"[{item['id']}] {places}" + (f" ({', '.join(facts)})" if facts else "")


def basis_text(item: dict[str, Any]) -> str:
    """What speaks against an item that was worked out: what it cites is contested or has changed; "" for nothing."""
    facts = ["rests on what is contested"] if item.get("contested") else []
    return ", ".join([*facts, *([f"out of date: {item['stale_reason']}"] if item.get("stale_reason") else [])])


def verdict_text(verdict: str, page: Page) -> str:
    """A verdict in its colour."""
    return (page.good if verdict == "current" else page.bad if verdict == "contested" else page.warning)(verdict)


def day(iso: str | None) -> str:
    """An ISO time for reading: the date, and the time to the second unless it is a midnight nobody wrote."""
    if not iso:
        return ""
    date, _, time = iso.partition("T")
    if time in ("", "00:00:00+00:00"):
        return date
    return f"{date} {time[:8]} {time[-6:].replace('+00:00', 'UTC')}"


def key_text(key: Any) -> str:
    """A claim's key, which is `[subject, attribute]` or text."""
    return " › ".join(map(str, key)) if isinstance(key, (list, tuple)) else str(key or "")


def foot(packet: dict[str, Any]) -> str:
    """The last line: how much of the answer is shown where it has several parts, tokens, what was left out."""
    parts = []
    total = packet.get("members_total")
    if total is not None and (total > 1 or packet["operation"] in MEMBERED):
        shown = packet.get("members_visible") or 0
        parts.append(f"the answer has {total} {'item' if total == 1 else 'items'}" + (f", {shown} of them shown" if shown < total else ""))
    if packet["items"] or packet["conflicts"]:
        parts.append(f"{packet['tokens']} of {packet['budget']} tokens")
    if packet["dropped"]:
        parts.append(f"{packet['dropped']} left out for lack of room")
    return " · ".join(parts)


def _item(item: dict[str, Any], page: Page, packet: dict[str, Any], *, ranked: bool = True) -> list[str]:
    rank = f"{item['rank']:>2}" if ranked and item.get("rank") else " -"
    title, text = " ".join(item["title"].split()), item["text"].strip()
    facts = [page.faint(item["type"]), verdict_text(item["verdict"], page), page.faint(period(item)), page.warning(basis_text(item))]
    lines = [f"{rank}  {page.strong(title)}  {' · '.join(fact for fact in facts if fact)}"]
    said = text.splitlines()
    if said and " ".join(said[0].split()) == title:
        said = said[1:]  # an object's text begins with its title
    lines += [f"    {page.style(line)}".rstrip() for line in said]
    places = list(dict.fromkeys(where(citation) for citation in item["citations"]))
    more = f"+{len(places) - PLACES_SHOWN} more" if len(places) > PLACES_SHOWN else ""
    shown = [*map(page.place, places[:PLACES_SHOWN]), *filter(None, (page.faint(more), page.faint(item["id"])))]
    lines.append("    " + "  ".join(shown))
    if item.get("dimensions"):
        lines += _explained(item, page)
    return lines


def _reading(packet: dict[str, Any], page: Page) -> list[str]:
    """How the question was read."""
    plan = packet["plan"]
    times = [f"{one['text']} → {period({'valid_from': one['from'], 'valid_to': one['to']}) or 'not resolved'}" for one in plan["times"]]
    facts = {"operation": packet["operation"], "words": ", ".join(plan["terms"]), "asks for": ", ".join(plan["implied"]), "times": "; ".join(times),
             "judged at": day(packet["as_of"]), "known at": day(packet["known_at"]), "denies": "yes" if plan["negated"] else ""}  # fmt: skip
    return [page.strong("How it was read"), *(f"  {page.faint(f'{name:<10}')}{page.style(text)}" for name, text in facts.items() if text), ""]


def _absent(packet: dict[str, Any], page: Page) -> list[str]:
    """What was found and left out, with the reason."""
    if not packet["left_out"]:
        return []
    lines = [page.strong("Left out")]
    for one in packet["left_out"]:
        score = "" if one["score"] is None else f"{_number(one['score'])}  "
        title = " ".join((one["title"] or "").split())
        lines.append(f"  {page.place(one['id'])}  {page.faint(score)}{page.style(title)}  {page.faint(one['reason'])}".replace("    ", "  "))
    return [*lines, ""]


def _explained(item: dict[str, Any], page: Page) -> list[str]:
    routes = ", ".join(f"{name} #{rank}" for name, rank in item["routes"].items())
    evidence = "  ".join(f"{name} {_number(value)}" for name, value in item["signals"].items() if value)
    dimensions = "  ".join(
        f"{name} {_number(one['value'])}×{one['weight']:g}" for name, one in item["dimensions"].items() if one["value"] and one["weight"]
    )
    lines = [f"score {_number(item['score'])} = evidence {_number(item['rank_evidence'])} + profile, from {routes or 'no route'}", evidence, dimensions]
    return [page.faint(f"    {line}") for line in lines if line]


def _number(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, (int, float)) else str(value)
