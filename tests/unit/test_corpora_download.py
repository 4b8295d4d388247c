"""Downloads against a server on this machine: resumed, repeated, verified, and never half there."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from preln.config import (
    BookcorpusSource,
    EmbeddedCorpus,
    Iwslt14Corpus,
    MrpcTask,
    RteTask,
    WikipediaSource,
    WikitextSource,
)
from preln.corpora import CorpusError
from preln.corpora.download import fetch, published_dump, registered
from preln.corpora.published import Download
from preln.corpora.registry import needed_downloads
from tests.refused import refused

CONTENT = bytes(range(256)) * 4096
HALF, MOST = len(CONTENT) // 2, len(CONTENT) * 3 // 4


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `CONTENT`; `behaviours`, one a request, are what it does wrong first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours: list[str] = []
        self.ranges: list[str | None] = []
        self.content = CONTENT

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def file(self) -> Download:
        return Download(f"{self.address}/a.tgz", "git-blob", blob(CONTENT))


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        behaviour = self.server.behaviours.pop(0) if self.server.behaviours else "right"
        if behaviour == "error":
            self.send_error(503)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if behaviour == "no ranges":
            start = 0
        elif start and start >= len(CONTENT):
            self.send_error(416)
            return
        content = self.server.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if behaviour == "truncated" else content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("there", "behaviours", "ranges"),
    [
        ({}, [], [None]),
        ({"a.tgz": CONTENT}, [], []),
        ({"a.tgz": b"damaged"}, [], [None]),
        ({"a.tgz.part": CONTENT}, [], [f"bytes={len(CONTENT)}-"]),
        ({}, ["truncated", "error", "truncated"], [None, f"bytes={HALF}-", f"bytes={HALF}-", f"bytes={MOST}-"]),
        ({}, ["truncated", *["error"] * 3] * 2, [None, *[f"bytes={HALF}-"] * 4, *[f"bytes={MOST}-"] * 4]),
        ({}, ["truncated", "no ranges"], [None, f"bytes={HALF}-"]),
    ],
    ids=[
        "new",
        "there",
        "damaged since",
        "complete but not renamed",
        "broken off",
        "more than five attempts, of which some gain",
        "the server cannot continue",
    ],
)
def test_what_is_not_there_is_downloaded_and_the_file_is_whole_and_alone(
    there: dict[str, bytes], behaviours: list[str], ranges: list[str | None], server: Server, tmp_path: Path
) -> None:
    for name, content in there.items():
        (tmp_path / name).write_bytes(content)
    server.behaviours = [*behaviours]
    assert fetch(server.file, tmp_path, pause=0).read_bytes() == CONTENT
    assert (names(tmp_path), server.ranges) == (["a.tgz"], ranges)


def test_an_interrupted_call_is_continued_by_the_next(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["truncated", "error"]
    with pytest.raises(CorpusError):
        fetch(server.file, tmp_path, attempts=1)
    assert names(tmp_path) == ["a.tgz.part"]
    assert fetch(server.file, tmp_path).read_bytes() == CONTENT
    assert server.ranges[2] == f"bytes={HALF}-"
    assert names(tmp_path) == ["a.tgz"]


def test_another_content_is_refused_with_both_ids_and_removed(server: Server, tmp_path: Path) -> None:
    expected = "0" * 40
    file = replace(server.file, checksum=expected)
    with pytest.raises(CorpusError, match=rf"is {blob(CONTENT)}, it should be {expected}.*`folder`"):
        fetch(file, tmp_path)
    assert names(tmp_path) == []


def test_a_download_that_fails_is_reported_with_what_to_do(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["error"] * 2
    with refused(CorpusError, "503", "after 2 attempts", "network", "`folder`"):
        fetch(server.file, tmp_path, attempts=2, pause=0)


def test_a_file_that_is_not_known_is_refused_with_those_that_are() -> None:
    with refused(CorpusError, "wrong.zip", "de-en.tgz", "enwiki-<date>"):
        registered("wrong.zip")


def test_a_dumps_checksum_is_that_of_the_list_beside_it(server: Server) -> None:
    name = "enwiki-20260101-pages-articles.xml.bz2"
    server.content = f"{'1' * 40}  other.bz2\n{'2' * 40}  {name}\n".encode()
    assert published_dump("20260101", server.address) == Download(f"{server.address}/20260101/{name}", "sha1", "2" * 40)


@pytest.mark.parametrize(
    ("behaviours", "parts"),
    [([], ("sha1sums.txt", "enwiki-20260101")), (["error"], ("check the date",))],
    ids=["not listed", "no list"],
)
def test_a_dump_that_there_is_not_is_refused(behaviours: list[str], parts: tuple[str, ...], server: Server) -> None:
    server.content, server.behaviours = b"", behaviours
    with refused(CorpusError, *parts):
        published_dump("20260101", server.address)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Iwslt14Corpus(source="iwslt14"), ["de-en.tgz"]),
        (Iwslt14Corpus(source="iwslt14", folder=Path("here")), []),
        (EmbeddedCorpus(source="embedded"), []),
        (WikitextSource(source="wikitext", size=2), ["wikitext-2-raw-v1.zip"]),
        (WikitextSource(source="wikitext"), ["wikitext-103-raw-v1.zip"]),
        (WikipediaSource(source="wikipedia", date="20260101"), ["enwiki-20260101-pages-articles.xml.bz2"]),
        (WikipediaSource(source="wikipedia", file=Path("here.xml")), []),
        (BookcorpusSource(source="bookcorpus"), ["bookcorpus.tar.bz2"]),
        (MrpcTask(source="mrpc"), ["msr_paraphrase_train.txt", "mrpc_dev_ids.tsv"]),
        (RteTask(source="rte"), ["RTE.zip"]),
    ],
    ids=str,
)
def test_what_is_downloaded_is_what_is_not_local_and_known(wanted: Any, names: list[str]) -> None:
    assert list(needed_downloads(wanted)) == names
    # Those of Wikipedia are not known before they are asked for.
    if wanted.source != "wikipedia":
        assert [registered(name).name for name in names] == names
