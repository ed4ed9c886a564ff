"""What `status`, `doctor`, `absorb` and `rebuild` answer, as text: what is the matter first, then the figures."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from smb.interfaces.cli.outline import count
from smb.interfaces.cli.page import Page

FINDINGS_SHOWN = 5  # of one kind
SKIPPED_SHOWN = 10


def status_text(answer: dict[str, Any], page: Page) -> str:
    """How the bank is, in a dozen lines."""
    kinds = ", ".join(count(n, kind) for kind, n in sorted(answer["objects"].items(), key=lambda kn: (-kn[1], kn[0])))
    projections = answer["projections"].items()
    behind = [
        f"{name} {count(one['behind'], one['unit'].removesuffix('s'))} behind" for name, one in projections if one["behind"]
    ]
    lagging = ", ".join([*behind, "the rest up to date"])
    past = [f"{n:,} {name}" for name, n in answer["standing"].items() if name not in ("current", "contested") and n]
    contested = answer["standing"].get("contested", 0)
    rows = {
        "documents": f"{answer['documents']:,} with {count(answer['passages'], 'passage')}",
        "objects": page.style(kinds or "none yet"),
        "contested": page.warning(f"{contested:,}") if contested else "",
        "past": ", ".join(past),
        "layers": ", ".join(f"{layer}: {n:,}" for layer, n in sorted(answer["layers"].items())),
        "generation": f"{answer['generation'][:12]} after {count(answer['transactions'], 'transaction')}",
        "indexes": lagging if behind else page.good("up to date"),
        "embedder": page.style(answer["embedder"] or "not used yet"),
        "to embed": f"{answer['unembedded']:,}" if answer["unembedded"] else "",
        "to model": f"{answer['pending_model_work']:,}" if answer["pending_model_work"] else "",
        "evolved": page.style(_cycle(answer["last_cycle"])),
        "on disk": ", ".join(f"{name} {size_text(size)}" for name, size in answer["bytes"].items()),
    }
    lines = [f"{page.strong('Memory bank')} {page.place(answer['bank'])}"]
    lines += [f"  {page.faint(f'{name:<11}')}{text}" for name, text in rows.items() if text]
    if answer["stale"]:
        lines += ["", page.warning("The catalog is behind the ledger; `smb rebuild` or the next ingest catches it up.")]
    skipped = answer["skipped"]
    if skipped:
        lines += ["", page.warning(f"{count(len(skipped), 'file')} skipped at the last ingest")]
        for one in skipped[:SKIPPED_SHOWN]:
            lines.append(f"  {page.place(_place(one))}  {page.style(one['reason'])}  {page.faint(one['detail'])}".rstrip())
        if len(skipped) > SKIPPED_SHOWN:
            lines.append(page.faint(f"  and {len(skipped) - SKIPPED_SHOWN:,} more (--json lists all)"))
    if not answer["documents"]:
        lines += ["", f"Next: {page.strong('smb ingest FOLDER')}"]
    return "\n".join(lines)


def doctor_text(answer: dict[str, Any], page: Page) -> str:
    """Each finding with the command that mends it, the worst first."""
    shade = {"error": page.bad, "warning": page.warning, "info": page.faint}
    lines: list[str] = []
    found = sorted(answer["findings"], key=lambda f: (list(shade).index(f["severity"]), f["check"]))
    for (severity, check), same in ((key, list(group)) for key, group in groupby(found, key=lambda f: (f["severity"], f["check"]))):
        for one in same[:FINDINGS_SHOWN]:
            mark = page.good("fixed") if one["fixed"] else shade[severity](severity)
            lines.append(f"{mark}  {page.strong(check)}  {page.style(one['detail'])}")
            place = page.place(_place(one)) if one["path"] else ""
            remedy = "" if one["fixed"] else f"mend: {page.style(one['remedy'])}"
            if place or remedy:
                lines.append("    " + "  ".join(part for part in (place, remedy) if part))
        if len(same) > FINDINGS_SHOWN:
            lines.append(page.faint(f"    and {len(same) - FINDINGS_SHOWN:,} more {check} (--json lists all)"))
    checked = ", ".join(count(n, name.replace("_", " ").removesuffix("s")) for name, n in answer["checked"].items())
    verdict = page.good("The bank keeps its promises.") if answer["ok"] else page.bad("Something is not as it should be.")
    return "\n".join([*lines, *([""] if lines else []), f"{verdict} {page.faint(f'Checked {checked}.')}"])


def absorb_text(answer: dict[str, Any], page: Page) -> str:
    """Which hand edits were taken in, and which could not be."""
    verb = "Would take in" if answer["dry_run"] else "Took in"
    lines = [f"{verb} {count(len(answer['edits']), 'hand edit')} of {count(answer['files'], 'object file')}."]
    lines += [f"  {one['kind']}  {page.place(one['path'])}" for one in answer["edits"]]
    return "\n".join(lines + _unreadable(answer, page))


def rebuild_text(answer: dict[str, Any], page: Page) -> str:
    """What was made again."""
    lines = [
        f"{page.strong('Rebuilt')} from {count(answer['transactions'], 'transaction')} in {answer['seconds']:.1f} s: "
        f"{count(answer['files_written'], 'file')} written, {count(answer['mirrored'], 'vector')} mirrored."
    ]
    if answer["absorbed"]:
        lines.append(f"Took in {count(len(answer['absorbed']), 'hand edit')} first.")
    return "\n".join(lines + _unreadable(answer, page))


def size_text(size: float) -> str:
    """Bytes as a person reads them: "812 B", "4.7 MB"."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.1f}".removesuffix(".0") + f" {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _unreadable(answer: dict[str, Any], page: Page) -> list[str]:
    return [f"  {page.bad('unreadable')}  {page.place(_place(one))}  {page.style(one['detail'])}" for one in answer["unreadable"]]


def _place(one: dict[str, Any]) -> str:
    return f"{one['path']}:{one['line']}" if one.get("line") else one["path"]


def _cycle(cycle: dict[str, Any] | None) -> str:
    if cycle is None:
        return ""
    since = f", {count(cycle['behind'], 'transaction')} since" if cycle["behind"] else ""
    return f"{cycle['recorded_at'][:16].replace('T', ' ')}{since}"