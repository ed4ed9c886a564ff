"""What `get` and `why` answer, as text. Quotes and note lines are shown whole, only control characters masked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smb.interfaces.cli.packet_text import day, key_text, period, verdict_text, where
from smb.interfaces.cli.page import Page


def got_text(answer: dict[str, Any], page: Page) -> str:
    """An object with its evidence, or numbered lines of a note."""
    return _object(answer, page) if answer["kind"] == "object" else _note(answer, page)


def why_text(answer: dict[str, Any], page: Page) -> str:
    """The chain under an object: its verdict, the revisions that decide it with their quotes, what it is derived from."""
    lines = [f"{page.strong(answer['title'])}  {page.faint(answer['type'])} · {verdict_text(answer['verdict'], page)}"]
    if answer["reason"]:
        lines.append(f"  {page.style(answer['reason'])}")
    lines += [f"  {page.faint(answer['verification'])}", *signed_lines(answer, page)]
    for revision in answer["revisions"]:
        lines += ["", *revision_lines(revision, page)]
        for span in revision["evidence"]:
            lines += _quote(span["quote"], page)
            place = where({**span, "path": span["path"] or span["source"][:12]})
            intact = page.good("intact") if span["intact"] else page.bad("layer 0 no longer says this")
            lines.append(f"    {page.place(place)}  {intact}")
    under = [one for one in answer["objects"] if one["id"] != answer["id"]]
    if under:
        lines += ["", page.strong("Derived from")]
        lines += [f"  {page.place(one['id'])}  {page.style(one['title'])}  {page.faint(one['type'])}" for one in under]
    return "\n".join(lines)


def signed_lines(answer: dict[str, Any], page: Page) -> list[str]:
    """A line for each sign-off: who, when, why, and whether it still counts."""
    lines = []
    for one in answer["signed"]:
        facts = [f"{one['decision']} by {one['by']}", day(one["at"]), one["note"] or "", "" if one["counts"] else "no longer counts: it says something else, or on weaker evidence"]
        lines.append(f"  {page.style(' · '.join(fact for fact in facts if fact))}")
    return lines


def _object(answer: dict[str, Any], page: Page) -> str:
    verdict = verdict_text(answer["verdict"], page)
    facts = [page.faint(answer["type"]), verdict, page.faint(period(answer)), page.place(answer["id"])]
    lines = [f"{page.strong(answer['title'])}  {' · '.join(fact for fact in facts if fact)}"]
    if answer["body"] and answer["body"] != answer["title"]:
        lines += ["", *(page.style(line) for line in answer["body"].splitlines())]
    said = {
        "key": f"{key_text(answer['key'])} = {answer['value']}" if answer["key"] else "",
        "aliases": ", ".join(answer["aliases"]),
        "tags": ", ".join(answer["tags"]),
        "trust": f"{answer['verification']}, {answer['mode']}, confidence {answer['confidence']:.2f}",
        "into": ", ".join(f"{one['title']} ({one['id']})" for one in answer["into"]),
        "memory": _memory(answer),
        "learned": day(answer["recorded_at"]),
        "file": answer["location"],
    }
    lines += ["", *(f"{page.faint(f'{name:<8}')}{page.style(text)}" for name, text in said.items() if text)]
    for citation in answer["citations"]:
        lines += ["", *_quote(citation["quote"], page), f"    {page.place(where(citation))}"]
    if answer["links"]:
        lines += ["", page.strong("Links")]
        for link in answer["links"]:
            lines.append(f"  {page.faint(link['type'])}  {page.style(link['title'])}  {page.place(link['target'])}")
    return "\n".join(lines)


def _memory(answer: dict[str, Any]) -> str:
    """The class of memory and what use made of its confidence; "" for plain knowledge nobody judged."""
    plain = answer["class"] == "semantic" and answer["strength"] == 1.0
    facts = [answer["class"], f"strength {answer['strength']:.2f}" if answer["strength"] != 1.0 else "", "recalled only by name" if answer["blacklisted"] else ""]
    return "" if plain else ", ".join(fact for fact in facts if fact)


def _note(answer: dict[str, Any], page: Page) -> str:
    width = len(str(answer["line_end"]))
    head = f"{page.place(answer['path'])}  {page.faint(answer['title'])}"
    gone = [] if answer["live"] else [page.warning("no longer among the notes; this is what it said")]
    if "expanded" in answer:
        lines = list(_expanded(answer["expanded"], page))
        return "\n".join([head, *gone, *(lines or [page.faint("nothing is written there")])])
    shown = answer["text"].split("\n") if answer["text"] or answer["lines"] >= answer["line_start"] else []
    lines = [
        f"{page.faint(f'{number:>{width}}')}  {page.style(line)}".rstrip()
        for number, line in enumerate(shown, answer["line_start"])
    ]
    return "\n".join([head, *gone, *(lines or [page.faint(f"it has {answer['lines']} lines")])])


def _expanded(part: dict[str, Any], page: Page) -> Iterator[str]:
    """The numbered lines of a part, and below a line that names them, indented, the lines of what is embedded there."""
    width = len(str(part["line_end"]))
    for one in part["content"]:
        if "text" in one:
            for number, line in enumerate(one["text"].split("\n"), one["line_start"]):
                yield f"{page.faint(f'{number:>{width}}')}  {page.style(line)}".rstrip()
        elif "cut" in one:
            yield f"{' ' * width}  {page.style(one['embed'])}  {page.warning(one['cut'])}"
        else:
            yield f"{' ' * width}  {page.faint('┌')} {page.place(where(one))}  {page.faint(one['embed'])}"
            for line in _expanded(one, page):
                yield f"{' ' * width}  {page.faint('│')} {line}".rstrip()


def revision_lines(revision: dict[str, Any], page: Page) -> list[str]:
    """One revision: its kind and what it says, then when, by whom, from where and why."""
    says = revision["says"]
    title = " ".join(str(says.get("value") or says.get("title") or says.get("decision") or "").split())
    held = period(revision)
    facts = [day(revision["recorded_at"]), revision["actor"], revision["path"] or "", held, revision["reason"] or ""]
    head = f"  {page.faint(revision['id'][:12])}  {page.strong(revision['kind'])}  {page.style(title)}".rstrip()
    return [head, f"    {page.faint(' · '.join(fact for fact in facts if fact))}"]


def _quote(quote: str, page: Page) -> list[str]:
    return [f"    {page.faint('│')} {page.style(line)}".rstrip() for line in quote.splitlines()]
