"""Every example on every page runs and prints what the page says; `docs/examples.py` tells how."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
KINDS = {"python", "py", "console", "text", "csv", "json", "toml", "yaml", "sh"}


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


EXAMPLES = module(ROOT / "docs/examples.py")


@pytest.fixture(scope="session")
def run_demo_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[str, int]]:
    """Runs a command as a page does, but a call of the demo only the first time: then its files are copied."""
    run, demos = EXAMPLES._run, dict[str, tuple[Path, tuple[str, int]]]()

    def run_or_copy(command: str) -> tuple[str, int]:
        here = Path.cwd()
        if not command.startswith("ringtrue demo") or any(here.glob("*demo*")):
            return run(command)  # type: ignore[no-any-return]
        if command not in demos:
            before = set(here.iterdir())
            said = run(command)
            kept = tmp_path_factory.mktemp("demo")
            for folder in set(here.iterdir()) - before:
                shutil.copytree(folder, kept / folder.name)
            demos[command] = kept, said
            return said
        kept, said = demos[command]
        shutil.copytree(kept, here, dirs_exist_ok=True)
        return said

    return run_or_copy


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_a_page_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_demo_once: Callable[[str], tuple[str, int]],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(EXAMPLES, "_run", run_demo_once)
    name = str(page.relative_to(ROOT))
    text, complaints = EXAMPLES.replay(page.read_text(), name)
    if text != page.read_text():
        complaints.append(f"To show what the commands print now: .venv/bin/python docs/examples.py {name}")
    assert not complaints, "\n\n".join(complaints)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_code_block_of_a_page_says_what_kind_it_is(page: Path) -> None:
    kinds = {block["language"] for block in EXAMPLES.BLOCK.finditer(page.read_text())}
    assert sorted(kinds - KINDS) == []


@pytest.mark.parametrize(
    "block",
    [
        "```python\n>>> 1 + 1\n3\n```\n",
        "```console\n$ ringtrue version\nnothing of the kind\n```\n",
        "```console\n$ ringtrue convert missing.run out.csv\n...\n```\n",
    ],
)
def test_a_page_that_says_something_wrong_is_found_out(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert EXAMPLES.replay(block, "page.md")[1]


def test_a_page_written_anew_has_nothing_wrong_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page, complaints = EXAMPLES.replay("```console\n$ ringtrue version\nold\n$ ringtrue version\n...\n```\n", "page.md")
    assert len(complaints) == 1
    assert EXAMPLES.replay(page, "page.md") == (page, [])
