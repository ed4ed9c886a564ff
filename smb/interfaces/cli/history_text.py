"""`smb history` as text: what held when, and when the bank learned it; for a key a table of both clocks and a timeline."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from smb.interfaces.cli.lookup_text import revision_lines
from smb.interfaces.cli.packet_text import day, key_text, verdict_text, where
from smb.interfaces.cli.page import Page

WIDTH = 48  # characters of a timeline
VALUE_SHOWN = 36
_FATE = {"supersede": "superseded", "revoke": "revoked", "merge": "merged", "split": "split", "assert": "restated"}


def history_text(answer: dict[str, Any], page: Page) -> str:
    """Every revision, oldest first, and the verdict it all comes to; a key's values as a table."""
    lines = [page.strong(key_text(answer["key"]) or answer["reference"])]
    rows = statements(answer) if answer["key"] else []
    if rows:
        lines += ["", *_table(rows, page)]
        if page.terminal and (drawn := timeline(rows)):
            lines += ["", *(page.style(line) for line in drawn)]
    else:
        for revision in answer["revisions"]:
            lines += ["", *revision_lines(revision, page)]
            if revision["closed_by"]:
                lines.append(f"    {page.faint('closed by ' + revision['closed_by'][:12])}")
    lines.append("")
    lines += [
        f"{page.faint('now')}  {verdict_text(verdict, page)}  {page.place(id_)}" for id_, verdict in answer["verdicts"].items()
    ]
    return "\n".join(lines)


def statements(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each statement of a value: {value, valid_from, valid_to, recorded_at, verdict, place}. A value that another
    replaced held up to that one's beginning."""
    by_id = {revision["id"]: revision for revision in answer["revisions"]}
    rows = []
    for revision in answer["revisions"]:
        if revision["kind"] not in ("assert", "supersede") or not revision["says"].get("title"):
            continue
        closer = by_id.get(revision["closed_by"] or "")
        ends = (
            closer["valid_from"] if closer and closer["kind"] == "supersede" and closer["object"] != revision["object"] else None
        )
        spans = revision["evidence"]
        rows.append({
            "value": " ".join(str(revision["says"].get("value") or revision["says"]["title"]).split()),
            "valid_from": revision["valid_from"], "valid_to": min(filter(None, (revision["valid_to"], ends)), default=None),
            "recorded_at": revision["recorded_at"], "verdict": _verdict(revision, closer, answer["verdicts"]),
            "place": where({**spans[0], "path": revision["path"] or spans[0]["source"][:12]}) if spans else revision["path"] or revision["actor"],
        })  # fmt: skip
    return sorted(rows, key=lambda row: (row["recorded_at"] or "", row["valid_from"] or ""))


def _verdict(revision: dict[str, Any], closer: dict[str, Any] | None, verdicts: dict[str, str]) -> str:
    """What became of one statement."""
    if closer is None or closer["kind"] in ("contest", "verify"):
        return str(verdicts.get(revision["object"], "unknown"))
    return (
        "restated"
        if closer["object"] == revision["object"] and closer["kind"] in ("assert", "supersede")
        else _FATE.get(closer["kind"], closer["kind"])
    )


def _table(rows: list[dict[str, Any]], page: Page) -> list[str]:
    cells = [("held from", "to", "learned", "value", "verdict", "where")]
    for row in rows:
        value = row["value"] if len(row["value"]) <= VALUE_SHOWN else f"{row['value'][: VALUE_SHOWN - 1]}…"
        cells.append(
            (
                day(row["valid_from"]) or "…",
                day(row["valid_to"]) or "…",
                day(row["recorded_at"]),
                value,
                row["verdict"],
                row["place"],
            )
        )
    widths = [max(len(line[n]) for line in cells) for n in range(len(cells[0]))]
    drawn = []
    for n, line in enumerate(cells):
        padded = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)]
        if n == 0:
            drawn.append(page.faint("  ".join(padded).rstrip()))
            continue
        held, to, learned, value, verdict, place = padded
        drawn.append(
            "  ".join(
                (
                    page.style(held),
                    page.style(to),
                    page.faint(learned),
                    page.strong(value),
                    verdict_text(verdict, page),
                    page.place(place.rstrip()),
                )
            )
        )
    return drawn


def timeline(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each value over one axis: ━ while it held (╌ where an end is not known), ◆ when the bank learned it."""
    times = [_seconds(row[name]) for row in rows for name in ("valid_from", "valid_to", "recorded_at") if row[name]]
    if not times or max(times) <= min(times):
        return []
    first, last = min(times), max(times)

    def at(iso: str) -> int:
        return round((_seconds(iso) - first) / (last - first) * (WIDTH - 1))

    drawn = []
    for row in rows:
        start, end = at(row["valid_from"]) if row["valid_from"] else 0, at(row["valid_to"]) if row["valid_to"] else WIDTH - 1
        bar = [" "] * start + ["━" if row["valid_from"] else "╌"] * max(1, end - start + 1) + [" "] * (WIDTH - 1 - end)
        if row["valid_from"] and not row["valid_to"]:
            bar[-1] = "╌"
        bar[at(row["recorded_at"])] = "◆"
        drawn.append(f"{''.join(bar[:WIDTH])}  {row['value'][:VALUE_SHOWN]}")
    begin, finish = datetime.fromtimestamp(first, UTC).date().isoformat(), datetime.fromtimestamp(last, UTC).date().isoformat()
    return [*drawn, f"{begin}{finish:>{WIDTH - len(begin)}}"]


def _seconds(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp()
