"""Files that are sent packed: small ones that would unpack to enormous ones are refused, held by nobody."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
import zstandard

from ringtrue.errors import FormatError, InputError
from ringtrue.files import read_documents, read_judgments
from ringtrue.service.collect import uploads
from ringtrue.service.collect.gold_queue import draw_gold
from ringtrue.service.collect.import_labels import import_labels
from ringtrue.service.collect.project_setup import extend_project
from ringtrue.service.collect.uploads import UploadedFile, open_source, require_unpacked_size
from ringtrue.service.store import Store
from service.small_projects import NOW, project

LINES = b"query,doc\n" + b"q1,d1\n" * (1 << 19)
NO_LINES = b"x" * (1 << 22)  # one line, which a reader of lines would hold whole
LIMIT = 1_000_000


def as_parquet(frame: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def many_zstd_frames(content: bytes) -> bytes:
    pieces = [content[at : at + 100_000] for at in range(0, len(content), 100_000)]
    return b"".join(map(zstandard.ZstdCompressor().compress, pieces))


PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, zstandard.ZstdCompressor().compress, many_zstd_frames]


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("content", [LINES, NO_LINES])
def test_a_small_file_that_unpacks_to_an_enormous_one_is_refused(
    pack: Callable[[bytes], bytes], content: bytes
) -> None:
    bomb = UploadedFile(name="bomb.csv.gz", content=pack(content))
    assert len(bomb.content) < LIMIT / 10
    with pytest.raises(FormatError) as refused:
        require_unpacked_size([bomb], max_bytes=LIMIT)
    assert refused.value.code == "unpacks-too-large"
    require_unpacked_size([bomb], max_bytes=len(content))


@pytest.mark.parametrize("pack", PACKERS)
def test_what_is_unpacked_to_be_counted_is_not_held(pack: Callable[[bytes], bytes]) -> None:
    bomb = UploadedFile(name="bomb", content=pack(b"\0" * 64_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            require_unpacked_size([bomb], max_bytes=60_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


def test_files_are_counted_together() -> None:
    part = UploadedFile(name="part.gz", content=gzip.compress(b"q1 Q0 d1 1 1 a\n" * 40_000))
    require_unpacked_size([part], max_bytes=LIMIT)
    with pytest.raises(FormatError) as refused:
        require_unpacked_size([part, part], max_bytes=LIMIT)
    assert refused.value.code == "unpacks-too-large"


def test_what_is_not_packed_is_not_counted() -> None:
    plain, packed = UploadedFile(name="a.run", content=LINES), gzip.compress(b"q1 Q0 d1 1 1 a\n" * 40_000)
    assert len(LINES) > LIMIT
    require_unpacked_size([plain, UploadedFile(name="a.gz", content=packed)], max_bytes=LIMIT)


@pytest.mark.parametrize("content", [gzip.compress(LINES)[:200], b"\x1f\x8b", b"\x28\xb5\x2f\xfd\x00", b"PAR1", b""])
def test_what_is_damaged_is_left_to_its_reader(content: bytes) -> None:
    require_unpacked_size([UploadedFile(name="a", content=content)], max_bytes=LIMIT)


class TestParquet:
    def test_few_bytes_that_say_the_same_a_million_times_are_refused(self) -> None:
        rows = as_parquet(pl.select(query=pl.repeat("q", 1_000_000), doc=pl.repeat("d", 1_000_000)))
        assert len(rows) < 10_000
        for content in (rows, gzip.compress(rows)):
            with pytest.raises(FormatError) as refused:
                require_unpacked_size([UploadedFile(name="a.parquet", content=content)], max_bytes=LIMIT)
            assert refused.value.code == "unpacks-too-large"

    def test_a_long_text_that_is_repeated_counts_each_time(self) -> None:
        texts = as_parquet(pl.select(doc=pl.int_range(100).cast(pl.String), text=pl.repeat("x" * 50_000, 100)))
        assert len(texts) < 100_000
        with pytest.raises(FormatError) as refused:
            require_unpacked_size([UploadedFile(name="a.parquet", content=texts)], max_bytes=LIMIT)
        assert refused.value.code == "unpacks-too-large"

    def test_lists_are_refused_as_they_may_hold_anything(self) -> None:
        lists = as_parquet(pl.DataFrame({"doc": ["d1"], "text": ["x"], "vector": [[1.0, 2.0]]}))
        with pytest.raises(FormatError) as refused:
            require_unpacked_size([UploadedFile(name="a.parquet", content=lists)], max_bytes=LIMIT)
        assert refused.value.code == "nested-column"

    def test_a_usual_table_passes(self) -> None:
        usual = as_parquet(pl.DataFrame({"query": ["q1"], "doc": ["d1"], "label": [2]}))
        require_unpacked_size([UploadedFile(name="a.parquet", content=usual)], max_bytes=LIMIT)


def test_every_door_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UNPACKED_BYTES", LIMIT)
    where = project(store)
    bomb = UploadedFile(name="bomb.gz", content=gzip.compress(LINES))
    kinds = [{"ask": [bomb]}, {"topics": bomb}, {"documents": [bomb]}, {"traps": bomb}]
    for files in kinds:
        with pytest.raises(FormatError) as refused:
            extend_project(store, where, **files, now=NOW, rng=np.random.default_rng(0))  # type: ignore[arg-type]
        assert refused.value.code == "unpacks-too-large"
    with pytest.raises(FormatError) as refused:
        import_labels(store, where, bomb, now=NOW, rng=np.random.default_rng(0))
    assert refused.value.code == "unpacks-too-large"
    run = UploadedFile(name="a.run", content=b"q1 Q0 d1 1 2.5 a\n")
    extend_project(store, where, ask=[run], now=NOW, rng=np.random.default_rng(0))
    with pytest.raises(FormatError) as refused:
        draw_gold(store, where, budget=1, bronze=bomb, now=NOW, rng=np.random.default_rng(0))
    assert refused.value.code == "unpacks-too-large"


def test_objects_in_cells_are_dropped_however_deep_or_wide() -> None:
    deep = '{"_id": "d1", "text": "a", "more": ' + '{"a":' * 500 + "1" + "}" * 500 + "}\n"
    wide = "".join(f'{{"_id": "w{at}", "text": "b", "more": {{"k{at}": 1}}}}\n' for at in range(300))
    frame = read_documents(open_source(UploadedFile(name="a.jsonl", content=(deep + wide).encode())))
    assert frame.height == 301
    assert frame["more"].dtype == pl.List(pl.Null)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'{"_id": ' + b"[" * 100_000, "bad-json"),
        (b'{"query": "q", "doc": "d", "label": ' + b"9" * 100_000 + b"}", "bad-json"),
        (b'{"query": "q", "doc": "d", "label": 1e999999}', "bad-label"),
        (b'{"query": "q", "doc": "d", "label": ' + b"9" * 400 + b"}", "empty-cell"),
        (b"query,doc,label" + b",x" * 40_000 + b"\n", "too-many-columns"),
        (b"query,doc,label," + b",".join(b"%d" % at for at in range(11_000)) + b"\nq,d,1\n", "too-many-columns"),
        (b"q 0 d 1" + b" 1" * 1_000_000, "too-many-fields"),
        (b"PK\x03\x04" + b"\0" * 100, "unknown-compression"),
    ],
)
def test_bombs_of_json_and_csv_are_refused_in_words(content: bytes, code: str) -> None:
    with pytest.raises(InputError) as refused:
        read_judgments(open_source(UploadedFile(name="a.txt", content=content)))
    assert (refused.value.code, refused.value.file) == (code, "a.txt")
