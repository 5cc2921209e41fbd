"""Names for files that commands are to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.doctor.suggestions import FreeNames


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pool.csv").touch()
    monkeypatch.chdir(tmp_path)
    names = FreeNames()
    assert [names.claim("pool.csv"), names.claim("pool.csv"), names.claim("x.qrels")] == [
        "pool-2.csv", "pool-3.csv", "x.qrels",
    ]  # fmt: skip
