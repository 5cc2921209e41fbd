"""The real parts that tests run against: PostgreSQL, started here on loopback, and where the browser is.

Debian's packages bring both: `tools/real-parts.sh` installs them where it may. Without them the tests that need them
are skipped and say how to get them; in CI that is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest
from benchmarks.servers import MissingError, PostgreSQL, memory_disk, running_postgresql

from ringtrue.service.store import Store

DATABASES = ("sqlite", "postgresql")
BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in PostgreSQL are slow, but for those of the contract that both databases keep."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        names = [value for value in parameters.params.values() if isinstance(value, str)] if parameters else []
        in_postgresql = "postgresql" in (*names, *getattr(item, "fixturenames", ()))
        if in_postgresql and not item.get_closest_marker("contract"):
            item.add_marker("slow")


def missing(what: object) -> NoReturn:
    """A part is not installed: fail in CI, else skip and say how to get it."""
    words = f"{what} is not installed: run `tools/real-parts.sh`, which `make test` calls, or see what it says"
    if os.environ.get("CI"):
        pytest.fail(words)
    pytest.skip(words)


def browser_path() -> str:
    """Where Debian's Chromium is."""
    return next((path for path in BROWSERS if Path(path).exists()), None) or missing("Chromium")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A running PostgreSQL, the same for all tests of this process; each makes databases of its own."""
    try:
        with running_postgresql(durable=False) as server:  # no test pulls the plug
            server.execute("CREATE DATABASE migrated")
            Store.open(server.url("migrated")).close()
            yield server
    except MissingError as what:
        missing(what)


@pytest.fixture(scope="session")
def fast_folder() -> Iterator[Path]:
    """A folder for the databases of this process, in memory where there is room."""
    with tempfile.TemporaryDirectory(prefix="ringtrue-", dir=memory_disk()) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def migrated_file(fast_folder: Path) -> Path:
    """An SQLite database with all its tables and nothing in them, to be copied."""
    path = fast_folder / "migrated.db"
    Store.open(str(path)).close()
    return path


@pytest.fixture
def sqlite_path(fast_folder: Path, migrated_file: Path) -> Iterator[Path]:
    """The path of an SQLite database that only this test uses, with all its tables and nothing in them."""
    with tempfile.TemporaryDirectory(dir=fast_folder) as folder:
        yield Path(shutil.copy(migrated_file, Path(folder, "ringtrue.db")))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB that can really be full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        missing("a disk to be filled (who runs the tests may not mount one)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_disk(folder: Path) -> Path:
    """Write until there is no room for a single byte; removing the file that is answered makes room again."""
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as stream:
        while True:
            stream.write(b"x" * 4096)
    return filler


@pytest.fixture(params=DATABASES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without tables that only this test uses."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'ringtrue.db'}"
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    name = server.create()
    yield server.url(name)
    server.drop(name)


@pytest.fixture(params=DATABASES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An open store with all its tables and nothing in them, in each of the two databases."""
    if request.param == "sqlite":
        with Store.open(str(request.getfixturevalue("sqlite_path"))) as opened:
            yield opened
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    name = server.create("migrated")
    with Store.open(server.url(name)) as opened:
        yield opened
    server.drop(name)
