"""The codes of notes and errors: where each is made, and what breaks the rule that messages are data.

    python tools/messages.py              # every code and the modules that make it
    python tools/messages.py --faults     # what breaks a rule, or nothing; exit code 1 if something does
    python tools/messages.py --faults gold service/store     # in these rooms only

The rules: a note or error begins with a code that is written out; below `cli` no literal names an option or a command;
and nobody cuts, searches or compares a sentence.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "ringtrue"
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+|`ringtrue [a-z]+|(?<!\S)ringtrue [a-z]+ (?=[A-Z<…-])")
NOT_MADE_HERE = {"Exception", "ValidationError", "OperationalError"}
# What holds a sentence, by its name, and what may not be done with it.
SENTENCES = re.compile(
    r"^(note|notes|error|refusal|sentence|message|warning|problem|reason|caveat|text_of_\w+)$|_(note|notes|error|message|reason)$"
)
CUTTERS = {
    "split", "rsplit", "splitlines", "partition", "rpartition", "startswith", "endswith", "removeprefix",
    "removesuffix", "find", "index", "replace", "strip", "rstrip", "lstrip",
}  # fmt: skip
REGULAR = {"match", "search", "fullmatch", "sub", "split", "findall", "finditer"}


def main() -> None:
    """Print the codes, or the faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", action="store_true", help="print what breaks a rule")
    parser.add_argument("rooms", nargs="*", help="folders or modules below src/ringtrue; all if none is given")
    options = parser.parse_args()
    if options.faults:
        faults = sorted(find_faults(options.rooms))
        print("\n".join(faults))
        sys.exit(1 if faults else 0)
    for code, homes in sorted(list_codes(options.rooms).items()):
        print(f"{code:40} {', '.join(sorted(homes))}")


def trees(rooms: list[str] | None = None) -> Iterator[tuple[str, ast.Module]]:
    """Every module of these rooms: its path below the package, and what it says."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not rooms or any(name == room or name.startswith(f"{room.rstrip('/')}/") for room in rooms):
            yield name, ast.parse(path.read_text())


def error_classes() -> set[str]:
    """Every error that is raised on purpose, by its name: those of `errors.py` and what inherits from them."""
    classes = {"RingtrueError"}
    definitions = [node for _, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for _ in range(4):  # a tree of four generations
        classes |= {
            node.name for node in definitions if any(isinstance(b, ast.Name) and b.id in classes for b in node.bases)
        }
    return classes


def list_codes(rooms: list[str] | None = None) -> dict[str, set[str]]:
    """Every code, and the modules that make a note or an error of it."""
    return {code: {module for _, module in makers} for code, makers in list_makers(rooms).items()}


def list_makers(rooms: list[str] | None = None) -> dict[str, set[tuple[str, str]]]:
    """Every code, and what is made of it: `Note` or the class of an error, and in which module."""
    makers = error_classes() | {"Note"}
    codes: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for name, tree in trees(rooms):
        for call in made_messages(tree, makers):
            for code in literals(call.args[0]) if len(call.args) == 2 else ():
                codes[code].add((called(call), name))
    return codes


def made_messages(tree: ast.Module, makers: set[str]) -> Iterator[ast.Call]:
    """The calls that make a note or an error; `click.UsageError` is none of ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in makers and not ast.unparse(node.func).startswith("click."):
            yield node


def called(call: ast.Call) -> str:
    """The name of what is called, without the module it is in."""
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def literals(node: ast.expr) -> Iterator[str]:
    """The codes that an argument may be: one that is written out, or a choice of two."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def find_faults(rooms: list[str] | None = None) -> Iterator[str]:
    """Everything that breaks a rule, as `module:line: what`."""
    makers = error_classes() | {"Note"}
    for name, tree in trees(rooms):
        if name in ("messages.py", "errors.py"):
            continue
        for call in made_messages(tree, makers):
            codes = list(literals(call.args[0])) if call.args else []
            spread = any(isinstance(argument, ast.Starred) for argument in call.args) or any(
                keyword.arg is None for keyword in call.keywords
            )
            if not spread and (len(call.args) != 2 or not codes):
                yield f"{name}:{call.lineno}: a note or an error without a code: {ast.unparse(call)[:70]}"
            for code in codes:
                if len(call.args) == 2 and not CODE.fullmatch(code):
                    yield f"{name}:{call.lineno}: no code, such as few-gold: {code[:60]!r}"
        if not name.startswith("cli/"):
            yield from named_options(name, tree)
        yield from cut_sentences(name, tree)


def named_options(name: str, tree: ast.Module) -> Iterator[str]:
    """Literals that name an option or a command; docstrings may."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {
        id(node.body[0].value)  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            found = OPTION.search(node.value)
            if found:
                yield f"{name}:{node.lineno}: a literal names an option or a command: {found[0]!r}"


def cut_sentences(name: str, tree: ast.Module) -> Iterator[str]:
    """Where a sentence is searched, cut or compared."""
    for node in ast.walk(tree):
        what = None
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            texts = [part for part in operands if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            if any(is_sentence(part) for part in operands) and texts and any(text.value for text in texts):
                what = "compares"
            elif any(isinstance(op, ast.In | ast.NotIn) for op in node.ops) and is_sentence(node.comparators[-1]):
                what = "searches" if is_one_sentence(node.comparators[-1]) else None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CUTTERS and is_one_sentence(node.func.value):
                what = "cuts"
            elif node.func.attr in REGULAR and any(is_one_sentence(argument) for argument in node.args):
                what = "searches"
        elif isinstance(node, ast.Subscript) and is_text(node.value):
            what = "cuts"
        if what:
            yield f"{name}:{node.lineno}: {what} a sentence: {ast.unparse(node)[:80]}"


def is_sentence(node: ast.expr) -> bool:
    """Whether an expression is a note, an error or what it says, or several of them, by its name."""
    return (
        is_text(node)
        or (isinstance(node, ast.Name) and SENTENCES.search(node.id) is not None)
        or (isinstance(node, ast.Attribute) and node.attr == "notes")
    )


def is_one_sentence(node: ast.expr) -> bool:
    """Whether an expression is one sentence rather than several."""
    if isinstance(node, ast.Attribute) and node.attr == "notes":
        return False
    return is_sentence(node) and not (isinstance(node, ast.Name) and node.id.endswith("notes"))


def is_text(node: ast.expr) -> bool:
    """Whether an expression is the words of an error or a note: `str(error)`, `error.text`, `note.sentence`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return is_sentence(node.args[0])
    if isinstance(node, ast.Attribute) and node.attr in ("text", "sentence"):
        return isinstance(node.value, ast.Name) and SENTENCES.search(node.value.id) is not None
    return isinstance(node, ast.Attribute) and node.attr == "args" and is_sentence(node.value)


if __name__ == "__main__":
    main()
