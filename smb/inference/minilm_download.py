"""Fetching the files of `minilm`, once, because a person asked for it.

Owns that nothing is kept of a file whose checksum isn't the one Chroma publishes. Never called but by `smb models pull`.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smb.inference.minilm_embedder import FILES
from smb.model.errors import SmbError

Progress = Callable[[str, int, int | None], None]
_LARGEST = 500_000_000  # bytes; the archive has 83 million


class DownloadFailed(SmbError):
    def __init__(self, url: str, detail: str):
        super().__init__(f"{url} could not be fetched: {detail}. Nothing of it is kept; try `smb models pull minilm` again.")


def is_there(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def pull(folder: Path, progress: Progress | None = None, *, published: Any = None) -> dict[str, Any]:
    """Puts `FILES` into `folder`: {"from", "bytes", "sha256"}. Chroma's own copy on this machine is taken where it is whole.

    `published` stands in for Chroma's class in tests. Raises DownloadFailed.
    """
    chroma = published or _published()
    url, wanted = chroma.MODEL_DOWNLOAD_URL, chroma._MODEL_SHA256
    folder.mkdir(parents=True, exist_ok=True)
    own = Path(chroma.DOWNLOAD_PATH) / chroma.ARCHIVE_FILENAME
    if own.is_file() and _sha256(own) == wanted:
        origin, size = str(own), own.stat().st_size
        _extract(own, folder, url)
    else:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".smb-", suffix=".tmp") as archive:
            origin, size = url, _fetch(url, archive, progress)
            if (found := _sha256(Path(archive.name))) != wanted:
                raise DownloadFailed(url, f"its SHA-256 is {found}, not {wanted}")
            _extract(Path(archive.name), folder, url)
    return {"from": origin, "bytes": size, "sha256": wanted}


def _published() -> Any:
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

    return ONNXMiniLM_L6_V2


def _fetch(url: str, archive: Any, progress: Progress | None) -> int:
    """Bytes written."""
    import httpx

    done = 0
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=httpx.Timeout(60.0, connect=15.0)) as reply:
            reply.raise_for_status()
            total = int(reply.headers.get("content-length", 0)) or None
            for part in reply.iter_bytes(1 << 20):
                archive.write(part)
                done += len(part)
                if done > _LARGEST:
                    raise DownloadFailed(url, f"it is larger than {_LARGEST} bytes")
                if progress:
                    progress("minilm", done, total)
    except httpx.HTTPError as error:
        raise DownloadFailed(url, str(error) or type(error).__name__) from error
    archive.flush()
    return done


def _extract(archive: Path, folder: Path, url: str) -> None:
    """The two files wanted, by their names, each whole or not at all; nothing else of the archive is written."""
    try:
        with tarfile.open(archive, "r:gz") as tar:
            members = {Path(member.name).name: member for member in tar.getmembers() if member.isfile()}
            if missing := [name for name in FILES if name not in members]:
                raise DownloadFailed(url, f"the archive has no {', '.join(missing)}")
            for name in reversed(FILES):  # the model last: `is_there` asks for both
                made = folder / f".smb-{name}.tmp"
                try:
                    with made.open("wb") as file:
                        _copy(tar.extractfile(members[name]), file)
                    os.replace(made, folder / name)
                finally:
                    made.unlink(missing_ok=True)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DownloadFailed(url, f"the archive can't be read ({error})") from error


def _copy(read: Any, made: Any) -> None:
    while part := read.read(1 << 20):
        made.write(part)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
