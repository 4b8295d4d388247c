"""Downloads against a server on this machine: resumed, repeated, verified, and never half there."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from preln.corpora import CorpusError
from preln.corpora.download import fetch, git_blob_id
from preln.corpora.registry import Download

CONTENT = bytes(range(256)) * 4096


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `CONTENT`; `behaviours`, one a request, are what it does wrong first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours: list[str] = []
        self.ranges: list[str | None] = []

    @property
    def file(self) -> Download:
        return Download(f"http://127.0.0.1:{self.server_address[1]}/a.tgz", "a.tgz", blob(CONTENT))


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
        elif start >= len(CONTENT):
            self.send_error(416)
            return
        content = CONTENT[start:]
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


def test_git_blob_id_is_that_of_git_hash_object(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"hello\n")
    assert git_blob_id(path) == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_the_file_is_whole_and_alone(server: Server, tmp_path: Path) -> None:
    path = fetch(server.file, tmp_path / "downloads")
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == ["a.tgz"]


def test_a_file_that_is_there_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    fetch(server.file, tmp_path)
    fetch(server.file, tmp_path)
    assert len(server.ranges) == 1


def test_a_file_that_was_damaged_since_is_downloaded_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(b"damaged")
    assert fetch(server.file, tmp_path).read_bytes() == CONTENT


def test_a_truncated_download_is_continued_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["truncated", "error", "truncated"]
    assert fetch(server.file, tmp_path, pause=0).read_bytes() == CONTENT
    half, most = len(CONTENT) // 2, len(CONTENT) * 3 // 4
    assert server.ranges == [None, f"bytes={half}-", f"bytes={half}-", f"bytes={most}-"]


def test_an_interrupted_call_is_continued_by_the_next(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["truncated"]
    with pytest.raises(CorpusError):
        fetch(server.file, tmp_path, attempts=1)
    assert names(tmp_path) == ["a.tgz.part"]
    assert fetch(server.file, tmp_path).read_bytes() == CONTENT
    assert server.ranges[1] == f"bytes={len(CONTENT) // 2}-"
    assert names(tmp_path) == ["a.tgz"]


def test_a_server_that_cannot_continue_starts_again(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["truncated", "no ranges"]
    assert fetch(server.file, tmp_path, pause=0).read_bytes() == CONTENT


def test_a_download_that_was_complete_but_not_renamed_is_used(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.tgz.part").write_bytes(CONTENT)
    assert fetch(server.file, tmp_path).read_bytes() == CONTENT


def test_another_content_is_refused_with_both_ids_and_removed(server: Server, tmp_path: Path) -> None:
    expected = "0" * 40
    file = Download(server.file.address, "a.tgz", expected)
    with pytest.raises(CorpusError, match=rf"is {blob(CONTENT)}, it should be {expected}.*`folder`"):
        fetch(file, tmp_path)
    assert names(tmp_path) == []


def test_no_server_is_reported_with_what_to_do(server: Server, tmp_path: Path) -> None:
    server.server_close()
    with pytest.raises(CorpusError, match=r"not downloaded after 2 attempts .*network.*`folder`"):
        fetch(server.file, tmp_path, attempts=2, pause=0)


def test_a_missing_file_is_reported(server: Server, tmp_path: Path) -> None:
    server.behaviours = ["error"] * 5
    with pytest.raises(CorpusError, match="503"):
        fetch(server.file, tmp_path, pause=0)
