"""Reading of parallel text: what is refused, what is dropped and counted, what is left as it is."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora import CorpusError, streams
from preln.corpora.text import LONGEST_LINE, Drops, Part, lines_of, read_parallel, screen, unusable, write_lines

TWO = b"one\ntwo\n"


def file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def read(folder: Path, source: bytes, target: bytes) -> Part:
    return read_parallel(file(folder, "a.de", source), file(folder, "a.en", target))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("eins\nzwei", ["eins", "zwei"]),
        ("\ufeffeins\r\nzwei\r\n", ["eins", "zwei"]),
        ("eins\r", ["eins"]),
        ("eins\u2028\u2029\u0085zwei", ["eins\u2028\u2029\u0085zwei"]),
        ("sch\u00f6n scho\u0308n", ["sch\u00f6n scho\u0308n"]),
    ],
    ids=["no last line end", "Windows", "one carriage return", "Unicode's separators", "decomposed"],
)
def test_the_lines_of_a_text_are_read(source: str, expected: list[str], tmp_path: Path) -> None:
    target = "x\n" * len(expected)
    assert read(tmp_path, source.encode(), target.encode()) == Part([(line, "x") for line in expected])


def test_a_carriage_return_in_a_long_line_does_not_end_it(tmp_path: Path) -> None:
    long = "x" * 9000 + "\ry"
    assert list(lines_of(file(tmp_path, "a.de", f"{long}\nzwei\n".encode()))) == [long, "zwei"]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\nc\n", b"a\nb\n", r"a\.de has 3 lines, .*a\.en has 2"),
        ("gut\nschön\n".encode("latin-1"), b"good\nnice\n", r"a\.de, line 2: not UTF-8 .* byte 4 of the line"),
        (b"", b"x\n", r"a\.de: the file is empty"),
        (b"\n\n", TWO, "no usable pair"),
        (b"one\rtwo\r", TWO, r"a\.de: its lines end with a carriage return alone, .* example with tr '\\r' '\\n'"),
        ("x\ny\n".encode("utf-16-le"), TWO, r"a\.de: seems to be UTF-16LE, it should be UTF-8; .* iconv -f UTF-16LE"),
        ("x\ny\n".encode("utf-16-be"), TWO, r"a\.de: seems to be UTF-16BE, it should be UTF-8; .* iconv -f UTF-16BE"),
        ("x\ny\n".encode("utf-16"), TWO, r"a\.de: seems to be UTF-16, it should be UTF-8; .* iconv -f UTF-16 -t"),
        (gzip.compress(TWO, mtime=0), TWO, r"a\.de: compressed by gzip, it should be text in UTF-8; unpack it first"),
    ],
    ids=[
        *("unequal", "Latin-1", "empty", "no usable pair", "old Macintosh"),
        *("UTF-16LE", "UTF-16BE", "UTF-16", "compressed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_reason(tmp_path: Path, source: bytes, target: bytes, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read(tmp_path, source, target)


def test_a_line_that_does_not_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_IN_MEMORY", 2 * LONGEST_LINE)
    assert len(list(lines_of(file(tmp_path, "fits", b"one\n" + b"x" * (2 * LONGEST_LINE - 1) + b"\n")))) == 2
    with pytest.raises(CorpusError, match=r"long, line 2: longer than .*one sentence a line"):
        list(lines_of(file(tmp_path, "long", b"one\n" + b"x" * (2 * LONGEST_LINE + 1))))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(CorpusError, match="cannot be read"):
            list(lines_of(path))


@pytest.mark.parametrize(
    ("side", "drops"),
    [
        *((side, Drops(empty=1)) for side in ("", " \t\u00a0", "\u200b\u200d \u2060", "\u00ad", "\u3164", "\u2800")),
        *((f"a{control}b", Drops(control_characters=1)) for control in "\0\x1b\r\x7f"),
        *((side, Drops(reserved_symbols=1)) for side in ("a \u2581 b", "a \u2585 b", "a</s>b", "<unk> a")),
        ("a" * (LONGEST_LINE + 1), Drops(too_many_characters=1)),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_an_unusable_side_drops_its_pair_and_is_counted(tmp_path: Path, side: str, drops: Drops, which: int) -> None:
    bad = ("x", side) if which else (side, "x")
    source, target = ("\n".join(sides).encode() for sides in zip(("a", "b"), bad, ("c", "d"), strict=True))
    assert read(tmp_path, source, target) == Part([("a", "b"), ("c", "d")], drops)


@pytest.mark.parametrize(
    "side", ["\u200e\u05d0", "\u0301", "\x94", "\ue000", "\U0001f44d\ufe0f", ".", "a\tb", "a" * LONGEST_LINE]
)
def test_a_side_with_a_visible_character_is_kept(side: str) -> None:
    assert screen(Part([(side, side)])) == Part([(side, side)])


@given(st.text())
def test_what_python_takes_for_space_is_never_visible(side: str) -> None:
    assert unusable(side) == "empty" or not (not side or side.isspace())


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5))))
def test_every_pair_is_kept_in_order_or_counted(pairs: list[tuple[str, str]]) -> None:
    part = screen(Part(pairs))
    assert len(part.pairs) + part.drops.total() == len(pairs)
    remaining = iter(pairs)
    assert all(pair in remaining for pair in part.pairs)


# Lines of NUL alone are what UTF-16 begins with.
@given(st.lists(st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"])), min_size=1))
def test_lines_that_are_written_are_read_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "text"
    lines[0] = lines[0].lstrip("\ufeff")
    write_lines(path, lines)
    assert list(lines_of(path)) == lines
