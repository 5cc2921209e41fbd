"""Commands that a shell understands as they were meant."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ringtrue.cli.shell_words import ShellSpelling, quote_path, quote_paths
from ringtrue.messages import Call

ODD = st.text(st.characters(codec="utf-8", exclude_characters="\0/", exclude_categories=["Cs", "Cc"]), min_size=1)


@given(ODD)
def test_any_name_comes_back_from_a_shell_as_it_was(name: str) -> None:
    (word,) = shlex.split(quote_path(name))
    assert word.removeprefix("./") == name.removeprefix("./")
    assert word == "-" or not word.startswith("-")


def expanded(words: str, folder: Path) -> list[str]:
    """What a real shell makes of words."""
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {words}"], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("files", "others", "short"),
    [
        (["a.run", "b.run", "c.run"], ["a.qrels"], "*.run"),
        (["a.run.gz", "b.run.gz", "c.run.gz"], ["d.run"], "*.run.gz"),
        (["sys-1", "sys-2", "sys-30"], ["qrels"], "sys-*"),
        (["my a.run", "my b.run", "my c.run"], ["a.run"], "'my '*.run"),
        (["runs/a.run", "runs/b.run", "runs/c.run"], [], "runs/*.run"),
        (["my runs/a.run", "my runs/b.run", "my runs/c.run"], [], "'my runs/'*.run"),
    ],
)
def test_many_files_become_a_pattern_that_matches_them_and_no_others(
    files: list[str], others: list[str], short: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*files, *others):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert quote_paths(files) == short
    assert sorted(expanded(short, tmp_path)) == sorted(files)


def test_files_among_others_alike_are_named_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.run").touch()
    monkeypatch.chdir(tmp_path)
    assert quote_paths(["a.run", "b.run", "d.run"]) == "a.run b.run d.run"


def test_files_of_several_folders_have_a_pattern_for_each(tmp_path: Path) -> None:
    paths = [str(tmp_path / folder / f"{name}.run") for folder in ("x", "y") for name in "abc"]
    for path in paths:
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).touch()
    assert quote_paths(paths) == f"{tmp_path}/x/*.run {tmp_path}/y/*.run"


def test_a_call_has_the_options_of_its_command() -> None:
    shell = ShellSpelling()
    assert shell.call(Call("agree", ["a.csv"], {"repeats": "last"})) == "ringtrue agree a.csv --repeats last"
    judges = Call("judges", ["my labels.csv"], {"gold_columns": {"label": "gold"}, "gold_where": {"gold!": ""}})
    assert shell.call(judges) == "ringtrue judges 'my labels.csv' --gold-columns label=gold --gold-where 'gold!='"
    sample = Call("sample", ["a.run"], {"budget": 20, "measures": "P@10", "output": "-next.csv"})
    assert shell.call(sample) == "ringtrue sample a.run --budget 20 --for P@10 -o ./-next.csv"
    assert shell.call(Call("serve")) == "ringtrue serve"
