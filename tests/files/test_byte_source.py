from __future__ import annotations

import gzip
import importlib
import io
import os
import sys
import threading
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, strategies as st

from ringtrue.errors import FileError, FormatError
from ringtrue.files.byte_source import Source, _ZstdStream

TEXT = "".join(f"q{n} 0 document-{n * 7919} {n % 4}\n" for n in range(2000)).encode()


def zstd(data: bytes, **options: bool) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(data)


PACKERS = {"plain": lambda data: data, "gz": gzip.compress, "zst": zstd}


def made(tmp_path: Path, content: bytes, name: str = "file") -> Source:
    path = tmp_path / name
    path.write_bytes(content)
    return Source(str(path))


@pytest.mark.parametrize("packing", list(PACKERS))
@pytest.mark.parametrize("ending", [b"", b"last"])
def test_every_packing_gives_the_same_lines_whatever_the_name(tmp_path: Path, packing: str, ending: bytes) -> None:
    source = made(tmp_path, PACKERS[packing](TEXT + ending), "name.txt")
    expected = [*TEXT.decode().splitlines(), *([ending.decode()] if ending else [])]
    assert list(source.lines()) == list(enumerate(expected, start=1))
    assert source.read_all() == TEXT + ending
    assert source.read_head(10) == TEXT[:10]


@pytest.mark.parametrize("packing", list(PACKERS))
def test_pieces_end_with_a_line_and_together_are_the_whole(tmp_path: Path, packing: str) -> None:
    source = made(tmp_path, PACKERS[packing](TEXT + b"last"))
    for size in (1, 7, 100, 1 << 22):
        pieces = list(source.chunks(size))
        assert all(piece.endswith(b"\n") for piece in pieces)
        assert b"".join(pieces) == TEXT + b"last\n"


def test_a_byte_order_mark_at_the_beginning_is_no_text(tmp_path: Path) -> None:
    source = made(tmp_path, b"\xef\xbb\xbfq1 0 d1 1\r\n\xef\xbb\xbfq2 0 d1 1")
    assert list(source.lines()) == [(1, "q1 0 d1 1"), (2, "\ufeffq2 0 d1 1")]
    assert source.read_head() == source.read_all() == b"q1 0 d1 1\r\n\xef\xbb\xbfq2 0 d1 1"


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_several_packed_parts_in_a_row_are_one_file(tmp_path: Path, packing: str) -> None:
    pack = PACKERS[packing]
    source = made(tmp_path, pack(b"a\n") + pack(b"") + pack(TEXT) + pack(b"z\n"))
    assert source.read_all() == b"a\n" + TEXT + b"z\n"
    assert b"".join(source.chunks(100)) == b"a\n" + TEXT + b"z\n"


@pytest.mark.parametrize("packing", ["gz", "zst", "zst with checksum", "two zst", "two gz"])
@pytest.mark.parametrize("cut", [1, 2, 4, 5, 100])
def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path, packing: str, cut: int) -> None:
    packed = {
        "gz": gzip.compress(TEXT),
        "zst": zstd(TEXT),
        "zst with checksum": zstd(TEXT, write_checksum=True),
        "two zst": zstd(TEXT) + zstd(TEXT),
        "two gz": gzip.compress(TEXT) + gzip.compress(TEXT),
    }[packing]
    source = made(tmp_path, packed[:-cut])
    for read in (source.read_all, lambda: list(source.chunks()), lambda: list(source.chunks(64))):
        with pytest.raises(FileError) as refused:
            read()
        assert refused.value.code == "damaged-file"


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_a_damaged_packed_file_is_refused(tmp_path: Path, packing: str) -> None:
    packed = bytearray(PACKERS[packing](TEXT))
    packed[len(packed) // 2] ^= 0xFF
    packed[len(packed) // 2 + 1] ^= 0xFF
    damaged = bytes(packed) if packing == "gz" else zstd(TEXT) + b"no frame at all"
    with pytest.raises(FileError) as refused:
        made(tmp_path, damaged).read_all()
    assert refused.value.code == "damaged-file"


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.lists(st.integers(1, 50), max_size=20))
def test_a_zstd_stream_gives_its_bytes_in_any_portions(parts: list[bytes], sizes: list[int]) -> None:
    stream = _ZstdStream(io.BytesIO(b"".join(map(zstd, parts))))
    given_out = b"".join(stream.read(size) for size in sizes)
    assert given_out + stream.read() == b"".join(parts)
    assert stream.read() == stream.read(5) == b""


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", gzip.compress(b""), zstd(b"")], ids=["plain", "bom", "gz", "zst"]
)
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    source = made(tmp_path, content)
    with pytest.raises(FormatError) as refused:
        source.read_head()
    assert (refused.value.code, refused.value.file) == ("empty-file", source.path)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_in_another_encoding_is_refused(tmp_path: Path, codec: str) -> None:
    with pytest.raises(FormatError) as refused:
        made(tmp_path, "q1 0 d1 1\n".encode(codec)).read_head()
    assert refused.value.code in ("not-utf8", "binary-file")


def test_utf16_with_its_mark_is_called_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="UTF-16") as refused:
        made(tmp_path, "q1 0 d1 1\n".encode("utf-16")).read_head()
    assert refused.value.code == "not-utf8"


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as refused:
        made(tmp_path, b"\x7fELF\x02\x01\x01\x00\x00\x00").read_head()
    assert refused.value.code == "binary-file"


def test_a_line_that_is_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="0xfc") as refused:
        list(made(tmp_path, b"a\nb\n\xfc\n").lines())
    assert (refused.value.code, refused.value.line) == ("not-utf8", 3)
    with pytest.raises(FormatError) as refused:
        list(made(tmp_path, b"a\nb\0\n").lines())
    assert (refused.value.code, refused.value.line) == ("binary-file", 2)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError) as refused:
        Source(str(tmp_path)).read_head()
    assert (refused.value.code, refused.value.file) == ("is-a-folder", str(tmp_path))


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    made(tmp_path, b"x", "bm25.run")
    with pytest.raises(FileError, match=r"'bm25\.run'\?") as refused:
        Source(str(tmp_path / "bm52.run")).read_head()
    assert (refused.value.code, refused.value.file) == ("no-such-file", str(tmp_path / "bm52.run"))
    with pytest.raises(FileError) as refused:
        Source(str(tmp_path / "nothing-like-it.txt")).read_head()
    assert "?" not in refused.value.text


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere'") as refused:
        Source(str(tmp_path / "nowhere" / "bm25.run")).read_head()
    assert refused.value.code == "no-such-file"


def test_a_file_used_as_a_folder_is_refused(tmp_path: Path) -> None:
    made(tmp_path, b"x", "bm25.run")
    with pytest.raises(FileError, match="Not a directory") as refused:
        Source(str(tmp_path / "bm25.run" / "x")).read_head()
    assert (refused.value.code, refused.value.file) == ("unreadable-file", str(tmp_path / "bm25.run" / "x"))


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    for name in ("x" * 5000, "a\0b"):
        with pytest.raises(FileError) as refused:
            Source(str(tmp_path / name)).read_head()
        assert refused.value.code == "unreadable-file"


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    source = made(tmp_path, TEXT)
    os.chmod(source.path, 0)
    # Root may read everything, but not the first byte of its own memory.
    path = "/proc/self/mem" if os.access(source.path, os.R_OK) else source.path
    with pytest.raises(FileError, match=r"\((Permission denied|Input/output error)\)") as refused:
        Source(path).read_head()
    assert refused.value.code == "unreadable-file"


class _Stdin:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("packing", list(PACKERS))
def test_standard_input_can_be_read_again(monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(PACKERS[packing](TEXT)))
    source = Source("-")
    assert source.is_stream
    assert source.read_head(5) == TEXT[:5]
    assert b"".join(source.chunks()) == source.read_all() == TEXT


def test_standard_input_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(b""))
    with pytest.raises(FormatError) as refused:
        Source("-").read_head()
    assert (refused.value.code, refused.value.file) == ("empty-file", "standard input")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError) as closed:
        Source("-").read_head()
    assert closed.value.code == "closed-input"


def test_a_named_pipe_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(TEXT),), daemon=True)
    writer.start()
    source = Source(str(path))
    assert source.is_stream
    assert source.read_head(5) == TEXT[:5]
    assert b"".join(source.chunks()) == source.read_all() == TEXT
    writer.join(timeout=5)
    assert not writer.is_alive()


@pytest.mark.parametrize(("module", "name"), [("bz2", "bzip2"), ("lzma", "xz")])
def test_a_file_packed_in_another_way_is_called_by_its_packer(tmp_path: Path, module: str, name: str) -> None:
    path = tmp_path / "packed"
    path.write_bytes(importlib.import_module(module).compress(b"q1 Q0 d1 1 1.0 x\n"))
    with pytest.raises(FormatError, match=name) as refused:
        Source(str(path)).read_head()
    assert refused.value.code == "unknown-compression"
