"""Break lines of the source one by one and see which tests notice: how strong are the tests before and after a change?

    python tools/break_lines.py --save before.json                      # 50 lines drawn by lot
    python tools/break_lines.py --again before.json --save after.json   # the same lines in a later state of the source

A line is broken in one place: `<` becomes `<=`, `+` becomes `-`, `and` becomes `or`, a number grows by one. It
is found again by its function and its text, wherever the module went. Tests run from near to far until one fails:
those of the module, of its folder, of its room; then, for lines that no fast test saw, the slow ones likewise.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
FAST, SLOW = "not slow and not simulation", "slow or simulation"
MINUTES = 15  # for one stage of tests; a test that hangs has noticed


@dataclass(kw_only=True)
class Break:
    """One expression of one statement, and what it becomes."""

    module: str
    function: str
    statement: str
    position: int  # of the expression among those of the statement
    before: str
    after: str
    seen_by: str | None = None  # the first test that failed


def main() -> None:
    """Break, run, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=Path, default=ROOT, help="where the source is, with a .venv of its own")
    parser.add_argument("--lines", type=int, default=50)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--again", type=Path, help="break the lines of this file")
    parser.add_argument("--save", type=Path, required=True)
    options = parser.parse_args()
    source = options.checkout / "src"
    if options.again:
        breaks = [Break(**fields) for fields in json.loads(options.again.read_text())]
    else:
        breaks = choose(source, options.lines, random.Random(options.seed))
    breaks.sort(key=lambda item: item.seen_by is None)
    witnesses = [item.seen_by or "" for item in breaks]  # in an earlier state of the source
    for item in breaks:
        item.seen_by = None
    for marks in (FAST, SLOW):
        for place, (item, witness) in enumerate(zip(breaks, witnesses, strict=True), 1):
            if item.seen_by is None:
                homes = list(find(source, item))
                if len(homes) == 1:
                    item.seen_by = first_failure(options.checkout, *homes[0], marks, witness)
                else:
                    item.seen_by = f"lost: found {len(homes)} times"
                outcome = item.seen_by or "not seen"
                print(f"{place:>3} {item.module}:{item.function}  {item.before} → {item.after}  {outcome}", flush=True)
                options.save.write_text(json.dumps([asdict(each) for each in breaks], indent=1, ensure_ascii=False))
    seen = sum(bool(item.seen_by) and not str(item.seen_by).startswith("lost") for item in breaks)
    print(f"{seen} of {len(breaks)} broken lines were seen")


def choose(source: Path, count: int, rng: random.Random) -> list[Break]:
    """Draw lines from all rooms, each room as often as it has lines that can be broken."""
    places = []
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source).with_suffix("").as_posix()
        for function, statement in statements(ast.parse(path.read_text())):
            nodes = list(ast.walk(statement))
            places += [(module, function, statement, at) for at, node in enumerate(nodes) if broken(node) is not None]
    rng.shuffle(places)
    breaks: list[Break] = []
    for module, function, statement, at in places:
        if len(breaks) == count:
            break
        node = list(ast.walk(statement))[at]
        candidate = Break(
            module=module, function=function, statement=ast.unparse(statement), position=at,
            before=ast.unparse(node), after=ast.unparse(broken(node)),
        )  # fmt: skip
        if len(list(find(source, candidate))) == 1:
            breaks.append(candidate)
    return breaks


def statements(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Each simple statement, and each condition, inside a function, with the function's name."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        waiting = list(function.body)
        while waiting:
            node = waiting.pop(0)
            if isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Raise | ast.Import | ast.ImportFrom
            ):
                continue
            inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
            waiting += inner
            if isinstance(node, ast.If | ast.While):
                yield function.name, node.test
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.Expr):
                yield function.name, node


def broken(node: ast.AST) -> ast.AST | None:
    """The node broken, or None where it cannot be."""
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare) and type(changed.ops[0]) in SWAPS:
        changed.ops[0] = SWAPS[type(changed.ops[0])]()  # type: ignore[assignment]
    elif isinstance(changed, ast.BinOp | ast.BoolOp) and type(changed.op) in SWAPS:
        changed.op = SWAPS[type(changed.op)]()  # type: ignore[assignment]
    elif isinstance(changed, ast.UnaryOp) and isinstance(changed.op, ast.Not):
        return changed.operand
    elif isinstance(changed, ast.Constant) and type(changed.value) in (int, float):
        changed.value = changed.value + 1  # type: ignore[operator]
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, bool):
        changed.value = not changed.value
    else:
        return None
    return changed


def find(source: Path, item: Break) -> Iterator[tuple[Path, ast.AST]]:
    """Where the expression is now: its function and statement are the same, whatever the module."""
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        if f"def {item.function}(" not in text:
            continue
        for function, statement in statements(ast.parse(text)):
            if function == item.function and ast.unparse(statement) == item.statement:
                yield path, list(ast.walk(statement))[item.position]


def first_failure(checkout: Path, path: Path, node: ast.AST, marks: str, witness: str = "") -> str | None:
    """The first test that fails when the node is broken."""
    text = path.read_text()
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset  # type: ignore[attr-defined]
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset  # type: ignore[attr-defined]
    whole = b"".join(lines)
    path.write_bytes(whole[:start] + f"({ast.unparse(broken(node))})".encode() + whole[end:])  # type: ignore[arg-type]
    try:
        for tests in stages(checkout, path, witness):
            if failure := run(checkout, tests, marks):
                return failure
    finally:
        path.write_text(text)
    return None


def stages(checkout: Path, path: Path, witness: str) -> Iterator[list[str]]:
    """Which tests to run: the one that saw the line before, wherever it is now, then all from near to far."""
    inside = path.relative_to(checkout / "src" / "ringtrue")
    tests = checkout / "tests"
    own = tests / inside.with_name(f"test_{inside.name}")
    folders = [folder for folder in (tests / inside).parents if folder.is_dir() and folder.is_relative_to(tests)]
    if name := re.search(r"::(test_\w+)", witness):
        homes = [str(file) for file in tests.rglob("test_*.py") if f"def {name[1]}(" in file.read_text()]
        yield [*homes, "-k", name[1]] if homes else [str(path)]
    yield [str(path), *([str(own)] if own.exists() else [])]
    for folder in folders[:-1] or folders:  # all tests only for a module that has no room
        yield [str(folder)]


def run(checkout: Path, tests: list[str], marks: str) -> str | None:
    """The first test that fails, if any."""
    command = [".venv/bin/pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0", "-m", marks, *tests]
    try:
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
    except subprocess.TimeoutExpired:
        return "a test that never ends"
    if done.returncode in (0, 5):
        return None
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if not failed:  # no test, but pytest itself
        raise RuntimeError((done.stdout + done.stderr)[-2_000:])
    return failed[0]


if __name__ == "__main__":
    sys.exit(main())
