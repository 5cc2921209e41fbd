"""Bytes from anywhere: a path or standard input, plain, gzip or zstd, in pieces that end with a line."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar, Protocol

from ringtrue.errors import FileError, FormatError, did_you_mean

GZIP, ZSTD, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
OTHER_COMPRESSIONS = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7-Zip"}
BOM, BOM16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
HEAD_SIZE = 1 << 16  # enough to tell what a file is
CHUNK_SIZE = 1 << 24  # bytes: fewer cost calls to the parser, more cost fresh memory; measured
STDIN = "-"
COMPRESSED_SUFFIXES = (".gz", ".zst")  # endings; what is compressed is told from the first bytes


class _Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...
    def readline(self) -> bytes: ...


@dataclass(slots=True)
class Source:
    """Something to read, by its path; `-` is standard input.

    What can be read only once, a pipe or standard input, is kept in memory so that it can be read again.
    """

    keeps_nested: ClassVar[bool] = True  # whether lists and objects in cells of a table are kept
    path: str
    progress: Callable[[int], None] | None = field(default=None, repr=False)  # told how many bytes were read
    _buffer: bytes | None = field(default=None, repr=False)

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once."""
        path = Path(self.path)
        return self.path == STDIN or (path.exists() and not path.is_file() and not path.is_dir())

    @property
    def display_name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STDIN else self.path

    @classmethod
    def of(cls, path: str | Path | Source, progress: Callable[[int], None] | None = None) -> Source:
        """The source at a path, or the source itself."""
        return path if isinstance(path, Source) else cls(str(path), progress)

    def read_head(self, size: int = HEAD_SIZE) -> bytes:
        """The first bytes, decompressed, without a byte-order mark; refuses what can be no text."""
        with self._open() as stream:
            first_bytes = stream.read(size).removeprefix(BOM)
        if not first_bytes:
            raise FormatError("empty-file", "the file is empty", file=self.display_name)
        if first_bytes.startswith(BOM16):
            raise FormatError("not-utf8", "the text is UTF-16; save it as UTF-8", file=self.display_name)
        for magic, name in OTHER_COMPRESSIONS.items():
            if first_bytes.startswith(magic):
                raise FormatError(
                    "unknown-compression",
                    f"this is packed with {name}; unpack it, or pack it with gzip or zstd",
                    file=self.display_name,
                )
        if b"\0" in first_bytes and not first_bytes.startswith(PARQUET):
            raise FormatError(
                "binary-file",
                "this is a binary file; expected text (plain, .gz or .zst) or Parquet",
                file=self.display_name,
            )
        return first_bytes

    def chunks(self, size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """The whole, in pieces of about this size that end with a line break."""
        with self._open() as stream:
            chunk = stream.read(size).removeprefix(BOM)
            while chunk:
                if not chunk.endswith(b"\n"):
                    chunk += stream.readline()
                yield chunk if chunk.endswith(b"\n") else chunk + b"\n"
                chunk = stream.read(size)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, from 1, without its line break."""
        number = 0
        for chunk in self.chunks():
            for line in chunk[:-1].split(b"\n"):
                number += 1
                yield number, self.decode_line(line, number).rstrip("\r")

    def decode_line(self, line: bytes, number: int) -> str:
        """A line as text, or an error that names it."""
        if b"\0" in line:
            raise FormatError("binary-file", "a zero byte: this is no text file", file=self.display_name, line=number)
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            byte = f"{line[error.start]:#04x}"
            raise FormatError(
                "not-utf8", f"not UTF-8 (byte {byte}); convert the file to UTF-8", file=self.display_name, line=number
            ) from error

    def read_all(self) -> bytes:
        """All of it."""
        with self._open() as stream:
            return stream.read().removeprefix(BOM)

    @contextmanager
    def _open(self) -> Iterator[_Readable]:
        try:
            with self._open_raw() as raw:
                magic = raw.read(4)
                raw.seek(0)
                if magic.startswith(GZIP):
                    yield gzip.GzipFile(fileobj=raw)
                elif magic.startswith(ZSTD):
                    yield _ZstdStream(raw)
                else:
                    yield raw
        except FileNotFoundError as error:
            raise FileError(
                "no-such-file", f"no such file{self._suggest_neighbour()}", file=self.display_name
            ) from error
        except IsADirectoryError as error:
            raise FileError("is-a-folder", "this is a folder; name the files in it", file=self.display_name) from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            text = "the compressed file is damaged or cut off; fetch it again"
            raise FileError("damaged-file", text, file=self.display_name) from error
        except OSError as error:
            reason = error.strerror or error
            raise FileError("unreadable-file", f"cannot be read ({reason})", file=self.display_name) from error
        except ValueError as error:  # a zero byte in the name
            raise FileError("unreadable-file", f"cannot be read ({error})", file=repr(self.display_name)) from error

    def _open_raw(self) -> IO[bytes] | _CountingFile:
        path = Path(self.path)
        if not self.is_stream:
            return _CountingFile(path, self.progress)
        if self._buffer is None:
            if self.path == STDIN and sys.stdin is None:
                raise FileError("closed-input", "standard input is closed; name a file")
            self._buffer = sys.stdin.buffer.read() if self.path == STDIN else path.read_bytes()
        return io.BytesIO(self._buffer)

    def _suggest_neighbour(self) -> str:
        folder = Path(self.path).parent
        try:
            names = [entry.name for entry in folder.iterdir()]
        except OSError:
            return f"; there is no folder '{folder}' either"
        return did_you_mean(Path(self.path).name, names)


class _CountingFile(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: Callable[[int], None] | None) -> None:
        super().__init__(path)
        self._progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        """Like any file's."""
        chunk = super().read(-1 if size is None else size) or b""
        if self._progress is not None:
            self._progress(len(chunk))
        return chunk


class _ZstdStream(io.RawIOBase):
    """A zstd stream, any number of frames, that raises EOFError when the last one is cut off.

    The library's own stream reader takes a cut for the end.
    """

    def __init__(self, raw: _Readable) -> None:
        import zstandard

        self._raw, self._decompressed = raw, bytearray()
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame, self._at_frame_start, self._error = self._new_frame(), True, zstandard.ZstdError

    def read(self, size: int = -1) -> bytes:
        """Like any stream's."""
        while (size < 0 or len(self._decompressed) < size) and (compressed := self._raw.read(1 << 20)):
            while compressed:
                try:
                    self._decompressed += self._frame.decompress(compressed)
                except self._error as error:
                    raise EOFError(str(error)) from error
                compressed, self._at_frame_start = b"", False
                if self._frame.eof:
                    compressed, self._at_frame_start = self._frame.unused_data, True
                    self._frame = self._new_frame()
        if (size < 0 or len(self._decompressed) < size) and not self._at_frame_start:
            raise EOFError("the last frame is cut off")
        size = len(self._decompressed) if size < 0 else size
        chunk = bytes(self._decompressed[:size])
        del self._decompressed[:size]
        return chunk
