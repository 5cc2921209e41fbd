"""The scripts of the page on running the service, run as they stand there against a real server."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from benchmarks.servers import Serving

from real_parts import missing
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.sessions import issue_token

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "run-the-service.md"
COMMAND = str(Path(sys.executable).with_name("ringtrue"))


def shown(name: str, **replaced: str) -> str:
    """A block of the page, with other paths in it."""
    found = re.search(rf"<!-- tried: {name} -->\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None, f"the page shows no {name}"
    text = found.group(1)
    for before, after in replaced.items():
        assert before in text, f"the block '{name}' has no '{before}'"
        text = text.replace(before, after)
    return text


@pytest.mark.slow
def test_the_backup_script_fetches_a_file_that_the_drill_restores(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        missing("curl")

    def make(connection: Any) -> str:
        olga = create_account(connection, kind="named", name="Olga", owner=True, password_hash="x", now=1.0)
        return issue_token(connection, olga, name="backup", scopes=["manage"], now=1.0, days=None)

    with Store.open(str(tmp_path / "a.db")) as store:
        token = store.write(make)
    header, folder = tmp_path / "token", tmp_path / "backups"
    header.write_text(f"Authorization: Bearer {token}\n")
    paths = {"/etc/ringtrue/backup-token": str(header), "/var/backups/ringtrue": str(folder)}
    with Serving(str(tmp_path / "a.db")) as server:
        script = shown("backup", **paths, **{"127.0.0.1:8000": f"127.0.0.1:{server.port}"})
        subprocess.run(["sh", "-c", script], check=True)
        (file,) = folder.iterdir()
        header.write_text("Authorization: Bearer guessed\n")
        refused = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
        assert refused.returncode != 0
        assert "401" in refused.stderr
        assert [path.name for path in folder.glob("*.zip")] == [file.name]  # the good one stays
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert zipfile.ZipFile(file).testzip() is None
    archive = "/var/backups/ringtrue/ringtrue-2026-11-18.zip"
    drill = shown("drill", **{archive: str(file), "ringtrue serve": f"{COMMAND} serve"})
    process = subprocess.Popen(
        ["sh", "-c", drill.replace("timeout 60 ", "exec ")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        note = process.stderr.readline()
        of_restored = re.search(
            r"(\d+) projects?, (\d+) accounts?, (\d+) judgments?; .* (\d+) tokens? .* (\d+) inv", note
        )
        assert of_restored is not None, note
        assert of_restored.groups() == ("0", "1", "0", "1", "0")  # projects, accounts, judgments; tokens and links
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_every_metric_on_the_page_is_one_that_there_is_and_the_other_way_round() -> None:
    from ringtrue.service.web.metrics import HELP

    table = PAGE.read_text().split("| metric | what it is |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(ringtrue_\w+)`", table)) == set(HELP)
