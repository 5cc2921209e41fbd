"""Small requests that would become enormous, from somebody with a token or a log-in: each is refused in words."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator

import polars as pl
import pytest
import zstandard

from ringtrue.service.collect import uploads
from ringtrue.service.store import Store
from ringtrue.service.web.api import file_bodies
from service.web.pages import code_of
from service.web.programs import World, world

JSON = {"Content-Type": "application/json"}
JSON_BOMBS = {
    "deep lists": b"[" * 1_000_000,
    "deep objects": b'{"queue":' * 200_000,
    "a long number": b'{"queue":' + b"9" * 1_900_000 + b"}",
    "a large exponent": b'{"queue": 1e' + b"9" * 1_000 + b"}",
    "a long list": b"[" + b"1," * 900_000 + b"1]",
    "many names": b"{" + b",".join(b'"k%d":1' % at for at in range(100_000)) + b"}",
    "many answers": b'{"answers":[' + b"{}," * 600_000 + b"{}]}",
    "many files": b'{"ask":[' + b'{"name":"a","text":""},' * 80_000 + b"{}]}",
    "half a character": b'{"queue": "\\ud800"}',
}
LIMIT = 1_000_000


@pytest.fixture(scope="module")
def here(fast_folder) -> Iterator[World]:
    with Store.open(str(fast_folder / "bombs.db")) as store, world(store) as made:
        yield made


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UNPACKED_BYTES", LIMIT)


@pytest.mark.parametrize("path", ["/projects/news/tasks", "/whole-tasks/1", "/projects", "/projects/news/files"])
def test_json_that_is_a_bomb_is_refused(here: World, path: str) -> None:
    owner = here.owner()
    for name, body in JSON_BOMBS.items():
        refused = owner("POST", path, content=body, headers=JSON)
        assert refused.status_code in (400, 413, 422), (name, refused.text)
        assert len(refused.content) < 5_000, name


def test_unknown_names_are_counted_and_not_listed(here: World) -> None:
    refused = here.owner()("POST", "/projects/news/tasks", content=JSON_BOMBS["many names"], headers=JSON)
    assert (refused.status_code, code_of(refused)) == (422, "invalid-request")
    assert "100,000" in refused.json()["error"]["message"]


def test_json_with_files_is_for_small_ones(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bodies, "JSON_LIMIT", 100_000)
    body = {"ask": [{"name": "a.run", "text": "q1 Q0 d1 1 2.5 a\n" * 10_000}]}
    assert here.owner()("POST", "/projects/news/files", json=body).status_code == 413


@pytest.fixture(scope="module")
def packed_bombs() -> dict[str, bytes]:
    lines, parquet = b'{"_id": "d1", "text": "a"}\n' * 100_000, io.BytesIO()
    pl.select(doc=pl.repeat("d1", 500_000), text=pl.repeat("a", 500_000)).write_parquet(parquet)
    sparse = b"".join(b'{"_id": "d%d", "k%d": 1}\n' % (at, at) for at in range(12_000))
    return {
        "gzip": gzip.compress(lines),
        "gzip without lines": gzip.compress(b"x" * 3_000_000),
        "zstd": zstandard.ZstdCompressor().compress(lines),
        "parquet": parquet.getvalue(),
        "zip": b"PK\x03\x04" + b"\0" * 1_000,
        "xlsx": b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml",
        "sparse": sparse,
        "a million columns": b"doc,text," + b"x," * 1_000_000 + b"\nd1,a\n",
        "deep": b'{"_id": "d1", "text": ' + b"[" * 100_000,
    }


@pytest.mark.parametrize("field", ["documents", "ask", "topics", "traps"])
def test_files_that_are_bombs_are_refused_by_the_api(
    here: World, low_limit: None, packed_bombs: dict[str, bytes], field: str
) -> None:
    owner = here.owner()
    for name, content in packed_bombs.items():
        refused = owner("POST", "/projects/news/files", files={field: ("bomb", content)})
        assert refused.status_code == 422, (name, refused.text)
        assert refused.json()["error"]["message"].startswith("bomb"), name


def test_files_that_are_bombs_are_refused_as_imports(
    here: World, low_limit: None, packed_bombs: dict[str, bytes]
) -> None:
    owner = here.owner()
    for name, content in packed_bombs.items():
        refused = owner("POST", "/projects/news/imports", files={"file": ("bomb", content)})
        assert refused.status_code == 422, (name, refused.text)


def test_files_that_are_bombs_are_told_on_the_page(
    owner, project, low_limit: None, packed_bombs: dict[str, bytes]
) -> None:
    for name, content in packed_bombs.items():
        owner.get("/p/news/files")
        page = owner.post("/p/news/files", owner.hidden() | {"depth": "10"}, files={"documents": ("bomb.txt", content)})
        assert page.status_code == 422, name
        assert "bomb.txt:" in page.text, name


def test_several_files_count_together(here: World, low_limit: None) -> None:
    part = gzip.compress(b'{"_id": "d1", "text": "a"}\n' * 20_000)
    files = [("documents", (f"part{at}", part)) for at in range(3)]
    refused = here.owner()("POST", "/projects/news/files", files=files)
    assert code_of(refused) == "unpacks-too-large"
    assert refused.json()["error"]["message"].startswith("part1:")
