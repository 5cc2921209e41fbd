"""What the source looks like to somebody who opens it: counts that compare before and after a change.

    python tools/shape.py            # this checkout
    python tools/shape.py ../other   # another one
    python tools/shape.py --names    # also the modules and private names behind the counts

Only the standard library is used, so that any checkout can be counted.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

PACKAGE = "ringtrue"
SMALL = 110  # lines; a module with a single importer below this is usually a part of it
MOST_BOUND = 12  # names listed
VAGUE = ("one", "found", "known", "told", "said", "asked", "item", "data", "result", "value")
MANY_MEANINGS = 3  # functions that may share a private name
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]{2,}|`ringtrue [a-z]+")
PROSE = re.compile(r"[A-Za-z'’]+[,;:]? [a-z'’]+[,;:]? [a-z'’]+")  # three words in a row
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|PRAGMA|ALTER|CREATE|DROP) ")


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--names", action="store_true", help="list the names behind the counts")
    options = parser.parse_args()
    source = options.checkout / "src" / PACKAGE
    if not source.is_dir():
        sys.exit(f"no folder {source}")
    modules = {module_name(path, source): ast.parse(path.read_text()) for path in sorted(source.rglob("*.py"))}
    texts = {module_name(path, source): path.read_text() for path in source.rglob("*.py")}
    lengths = {name: len(text.splitlines()) for name, text in texts.items()}
    packages = {module_name(path, source) for path in source.rglob("__init__.py")}
    importers = importers_of(modules)
    single = [name for name, users in importers.items() if len(users) == 1 and name not in packages]
    ing = sorted(name for name in modules if name.rpartition(".")[2].endswith("ing"))
    private = meanings(modules)
    shared = sorted(((len(homes), name) for name, homes in private.items() if len(homes) > MANY_MEANINGS), reverse=True)
    tests = [ast.parse(path.read_text()) for path in sorted((options.checkout / "tests").rglob("*.py"))]
    with_prose, assertions, functions = prose_assertions(tests)

    rows = {
        "modules": f"{len(modules):,}",
        "lines": f"{sum(lengths.values()):,}",
        "statements": f"{sum(isinstance(node, ast.stmt) for tree in modules.values() for node in ast.walk(tree)):,}",
        "median lines of a module": f"{median(lengths.values()):g}",
        "longest module": f"{max(lengths.values())}",
        "modules with a single importer": f"{len(single)}",
        f"  of these under {SMALL} lines": f"{sum(lengths[name] < SMALL for name in single)}",
        "blocks of __all__": f"{sum(text.count('__all__ = ') for text in texts.values())}",
        "# fmt: skip": f"{sum(text.count('# fmt: skip') for text in texts.values())}",
        "packages at the root": f"{sum(name.count('.') == 1 for name in packages)}",
        "loose modules at the root": f"{sum(name.count('.') == 1 for name in set(modules) - packages)}",
        "layers": f"{layers(options.checkout)}",
        "module names ending in -ing": f"{len(ing)} ({len(ing) / len(modules):.0%})",
        f"private names with more than {MANY_MEANINGS} functions": f"{len(shared)}",
        "literals outside cli/ that name options or commands": f"{sum(named_options(modules))}",
        "tests that assert prose": f"{with_prose:,} of {functions:,} ({with_prose / functions:.0%})",
        "assertions of prose": f"{assertions:,}",
    }
    width = max(map(len, rows))
    for what, count in rows.items():
        print(f"{what:<{width}}  {count}")
    bound = Counter(name for tree in modules.values() for name in bound_names(tree))
    print("\nmost-bound names: " + ", ".join(f"{name} {count}" for name, count in bound.most_common(MOST_BOUND)))
    print("vague names:      " + ", ".join(f"{name} {bound[name]}" for name in VAGUE))
    if options.names:
        print("\nmodules ending in -ing: " + ", ".join(name.removeprefix(f"{PACKAGE}.") for name in ing))
        print("\nmodules with a single importer:")
        for name in sorted(single):
            print(f"  {name.removeprefix(f'{PACKAGE}.'):<44} {lengths[name]:>4}  by {', '.join(importers[name])}")
        print("\nprivate names with many functions: " + ", ".join(f"{name} {count}" for count, name in shared))


def module_name(path: Path, source: Path) -> str:
    """The dotted name of a file."""
    parts = (PACKAGE, *path.relative_to(source).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def importers_of(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Which modules import each one, imports inside functions included."""
    importers = defaultdict[str, set[str]](set)
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for target in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    if target in modules:
                        importers[target].add(name)
    return importers


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Every name that is bound: assigned, a parameter, a loop variable; once for each place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def meanings(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Where each private function is defined; methods apart, whose class says what they are about."""
    homes = defaultdict[str, set[str]](set)
    for name, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_"):
                homes[node.name].add(name)
    return homes


def named_options(modules: dict[str, ast.Module]) -> Iterator[bool]:
    """For each literal outside the command line and its docstrings: whether it names an option or a command."""
    for name, tree in modules.items():
        if name.startswith(f"{PACKAGE}.cli"):
            continue
        docstrings = {id(node.body[0].value) for node in ast.walk(tree) if has_docstring(node)}  # type: ignore[attr-defined]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield OPTION.search(node.value) is not None


def has_docstring(node: ast.AST) -> bool:
    """Whether a node begins with a docstring."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def prose_assertions(tests: list[ast.Module]) -> tuple[int, int, int]:
    """How many tests assert prose, in how many assertions, and how many tests there are."""
    with_prose = assertions = functions = 0
    for tree in tests:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                here = sum(asserts_prose(part) for part in ast.walk(node))
                functions, with_prose, assertions = functions + 1, with_prose + bool(here), assertions + here
    return with_prose, assertions, functions


def asserts_prose(node: ast.AST) -> bool:
    """Whether a node is an assert, or a `match=`, with a literal of several words that is no database query."""
    if isinstance(node, ast.Assert):
        node = node.test  # what it says when it fails is not asserted
    elif not (isinstance(node, ast.keyword) and node.arg == "match"):
        return False
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    words = (text for text in texts if " " in text and not SQL.match(text))
    return any(PROSE.search(text) for text in words)


def layers(checkout: Path) -> int:
    """How many layers the contract of the whole package has."""
    contracts = tomllib.loads((checkout / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(len(contract["layers"]) for contract in contracts if contract.get("containers") == [PACKAGE])


if __name__ == "__main__":
    main()
