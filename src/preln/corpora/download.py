"""Downloads that are resumed after an interruption and verified before they appear under their name."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import requests
from tqdm import tqdm

from preln.corpora import CorpusError
from preln.corpora.registry import Download

_BLOCK = 1 << 16
"""Bytes; what an interruption may lose."""
_PATIENCE = (10, 60)
"""Seconds to wait for a connection, and for the next bytes."""


def git_blob_id(path: Path) -> str:
    """The id that git gives to a file's content (`git hash-object`), in hexadecimal."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_content(path: Path, git_blob: str) -> None:
    """Check that the file's git blob id is `git_blob`.

    Raises:
        CorpusError: if the file is missing or is another; the message has both ids.
    """
    if not path.is_file():
        raise CorpusError(f"{path}: is missing; download it, or set the corpus's `folder` to where it is")
    found = git_blob_id(path)
    if found != git_blob:
        raise CorpusError(
            f"{path}: its git blob id is {found}, it should be {git_blob}: the file is damaged or another; "
            "put the right one into a folder, and set the corpus's `folder` to it"
        )


def fetch(file: Download, folder: Path, attempts: int = 5, pause: float = 2.0) -> Path:
    """Download `file` into `folder` unless it is there, and return its path.

    What has arrived is kept as `<name>.part` between attempts and calls, and continued from where the
    server allows it. An attempt that fails is repeated after `pause` seconds, doubled each time. The file
    gets its name after its content was verified.

    Raises:
        CorpusError: if it cannot be downloaded, or if its content is not the expected.
    """
    path = folder / file.name
    if path.is_file() and git_blob_id(path) == file.git_blob:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    for attempt in range(attempts):
        try:
            _continue(file.address, partial)
            break
        except requests.RequestException as error:
            if attempt + 1 == attempts:
                raise CorpusError(
                    f"{file.address}: not downloaded after {attempts} attempts ({error}); check the network "
                    f"and try again, or set the corpus's `folder` to where {file.name} is"
                ) from None
            time.sleep(pause * 2**attempt)
    try:
        require_content(partial, file.git_blob)
    except CorpusError as error:
        partial.unlink()
        raise CorpusError(f"{file.address}: {error}") from None
    return partial.replace(path)


def _continue(address: str, partial: Path) -> None:
    """Download `address` to `partial`, behind what is there already."""
    start = partial.stat().st_size if partial.exists() else 0
    # Without it a server may send the archive's gzip as an encoding, and it would arrive unpacked.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(address, headers=headers, stream=True, timeout=_PATIENCE) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return  # nothing is behind the last byte: it is complete, or another file, as its check will tell
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        length = response.headers.get("Content-Length")
        with (
            partial.open("ab" if resumed else "wb") as output,
            tqdm(
                desc=f"download {partial.stem}",
                initial=start if resumed else 0,
                total=int(length) + (start if resumed else 0) if length else None,
                unit="B",
                unit_scale=True,
            ) as bar,
        ):
            for block in response.iter_content(_BLOCK):
                output.write(block)
                bar.update(len(block))
