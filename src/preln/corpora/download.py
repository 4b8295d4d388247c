"""Downloads that are resumed after an interruption and verified before they appear under their name."""

from __future__ import annotations

import re
from pathlib import Path

import requests
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential
from tqdm import tqdm

from preln.corpora import CorpusError
from preln.corpora.published import Download, checksum
from preln.corpora.registry import DOWNLOADS, DUMPS, wikipedia_dump

_BLOCK = 1 << 16
"""Bytes that an interruption may lose."""
_PATIENCE = (10, 60)
"""Seconds to wait for a connection, and for the next bytes."""


def registered(name: str) -> Download:
    """The download with this name; for a Wikipedia dump, with its published checksum.

    Raises:
        CorpusError: if the name is unknown, or the checksum of a dump cannot be downloaded.
    """
    if name in DOWNLOADS:
        return DOWNLOADS[name]
    dump = re.fullmatch(wikipedia_dump(r"(\d{8})"), name)
    if dump is None:
        raise CorpusError(f"{name}: not known; known are {', '.join(DOWNLOADS)} and {wikipedia_dump('<date>')}")
    return published_dump(dump[1])


def published_dump(date: str, dumps: str = DUMPS) -> Download:
    """A Wikipedia dump, with its checksum from the published list.

    Raises:
        CorpusError: if the list cannot be downloaded, or lacks the dump.
    """
    name = wikipedia_dump(date)
    address = f"{dumps}/{date}/enwiki-{date}-sha1sums.txt"
    try:
        response = requests.get(address, timeout=_PATIENCE)
        response.raise_for_status()
    except requests.RequestException as error:
        raise CorpusError(
            f"{address}: not downloaded ({error}); check the date (a dump is kept for some months) and the network, or "
            f"name a local dump as `file` in the study"
        ) from None
    for line in response.text.splitlines():
        sha1, _, listed = line.partition("  ")
        if listed == name:
            return Download(f"{dumps}/{date}/{name}", "sha1", sha1)
    raise CorpusError(f"{address}: does not list {name}; choose another date, or name a local dump as `file`")


def fetch(file: Download, folder: Path, attempts: int = 5, pause: float = 2.0) -> Path:
    """Download `file` into `folder` unless it exists, and return its path.

    A partial download is kept as `<name>.part` between attempts and calls, and continued if the server allows it. A
    failed attempt is repeated after `pause` seconds, doubled each time, until so many `attempts` gain nothing. The file
    gets its name after verification.

    Raises:
        CorpusError: if it cannot be downloaded, or its content differs from the expected.
    """
    path = folder / file.name
    if path.is_file() and checksum(path, file.algorithm) == file.checksum:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    # urllib3's own retries end with the response's header; a broken body needs another request.
    repeated = Retrying(
        retry=retry_if_exception_type(requests.RequestException),
        stop=stop_after_attempt(attempts),
        wait=wait_exponential(pause),
        reraise=True,
    )
    key = "file" if file.name.startswith("enwiki") else "folder"
    otherwise = f"run the same command again, or name the `{key}` of a local {file.name} in the study"
    while True:
        before = _size(partial)
        try:
            repeated(_continue, file.address, partial)
            break
        except requests.RequestException as error:
            if _size(partial) <= before:
                raise CorpusError(
                    f"{file.address}: not downloaded after {attempts} attempts ({error}); check the network, and "
                    f"{otherwise}"
                ) from None
    if (actual := checksum(partial, file.algorithm)) != file.checksum:
        partial.unlink()
        raise CorpusError(
            f"{file.address}: the {file.algorithm} checksum of what came is {actual}, it should be {file.checksum}; it "
            f"was removed: {otherwise}"
        )
    return partial.replace(path)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _continue(address: str, partial: Path) -> None:
    start = _size(partial)
    # Without this, a server may send the archive's gzip as an encoding, and it would arrive unpacked.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(address, headers=headers, stream=True, timeout=_PATIENCE) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return  # the file is complete, or a different one, which its checksum will show
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
