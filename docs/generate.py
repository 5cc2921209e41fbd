"""Rewrite the generated parts of the pages from the code that they describe.

    .venv/bin/python docs/generate.py            write the pages anew
    .venv/bin/python docs/generate.py --check    only say which of them are out of date

A generated part stands between `<!-- generated: NAME -->` and `<!-- /generated -->`. NAME is one of `PARTS`,
followed by the one thing it is about where there are several: `help evaluate`, `name Run`.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import ringtrue
from ringtrue import errors
from ringtrue.cli import COMMANDS
from ringtrue.evaluation.measures import CATALOGUE, Definition
from ringtrue.evaluation.measures.catalogue import PARAMETERS
from ringtrue.evaluation.measures.measure import SYNONYMS, TREC_EVAL
from ringtrue.files import FORMATS
from ringtrue.tables.columns import COLUMN_ALIASES

DOCS = Path(__file__).parent
CODES = DOCS / "codes"
PART = re.compile(r"(?P<open><!-- generated: (?P<name>[^\n]+?) -->\n).*?(?P<close><!-- /generated -->)", re.S)
CITATION = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\](?!\()")
EQUATION = re.compile(r"(?:^ {4}.*\S.*\n?)+", re.M)
WIDTH = "100"


def main(arguments: list[str]) -> int:
    """Write every page anew, or with --check say which are out of date."""
    stale = [page for page in pages() if updated(page.read_text()) != page.read_text()]
    for page in stale:
        print(f"{page.relative_to(DOCS.parent)}: {'out of date' if '--check' in arguments else 'written anew'}")
        if "--check" not in arguments:
            page.write_text(updated(page.read_text()))
    return 1 if stale and "--check" in arguments else 0


def pages() -> list[Path]:
    """The pages that have generated parts."""
    return [page for page in sorted(DOCS.rglob("*.md")) if PART.search(page.read_text())]


def updated(text: str) -> str:
    """The text of a page with its generated parts as they should be."""
    return PART.sub(lambda part: f"{part['open']}\n{render(part['name'])}\n\n{part['close']}", text)


def render(name: str) -> str:
    """One generated part."""
    kind, _, about = name.partition(" ")
    return PARTS[kind](about).strip("\n")


def help_text(command: str) -> str:
    """What `--help` says."""
    script = Path(sys.executable).with_name("ringtrue")
    words = [str(script), *command.split(), "--help"]
    shown = subprocess.run(
        words, capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": WIDTH, "PYTHONUTF8": "1"}
    )
    return fenced("text", shown.stdout)


def command_table(_: str) -> str:
    """Every command and the question it answers."""
    return table(["command", "question"], [[f"[`{name}`](#{name})", says] for name, says in COMMANDS.items()])


def measure_table(_: str) -> str:
    """Every measure and what it is."""
    rows = [[f"[`{one.usage}`](#{one.name.lower()})", one.summary] for one in CATALOGUE.values()]
    return table(["measure", "what it is"], rows)


def formulas(_: str) -> str:
    """A section for every measure: how it is written, the formula, where it comes from."""
    return "\n\n".join(_formula(definition) for definition in CATALOGUE.values())


def _formula(definition: Definition) -> str:
    summary, _, rest = prose(definition.formula).partition("\n")
    equation = EQUATION.search(rest)
    parts = [f"### {definition.name}", f"`{definition.usage}`", summary]
    if equation:
        keys = dict.fromkeys(CITATION.findall(equation[0]))
        lines = [CITATION.sub("", line.strip()).rstrip() for line in equation[0].splitlines()]
        parts.append(fenced("text", "\n".join(lines)))
        rest = rest.replace(equation[0], "")
        if keys:
            parts.append("From " + ", ".join(f"[{key}]" for key in keys) + ".")
    if rest.strip():
        parts.append(re.sub(r"\n{2,}", "\n\n", rest.strip()))
    return linked("\n\n".join(parts))


def parameter_table(_: str) -> str:
    """Every parameter, what it takes, and which measures have it."""
    rows = []
    for name, parameter in PARAMETERS.items():
        having = [one.name for one in CATALOGUE.values() if name in one.defaults]
        who = "every measure" if len(having) == len(CATALOGUE) else ", ".join(having)
        rows.append([f"`{name}`", parameter.expected, who])
    return table(["parameter", "takes", "of"], rows)


def synonym_table(_: str) -> str:
    """What other tools call our measures."""
    rows = [[f"`{theirs}`", f"`{ours}`"] for theirs, ours in SYNONYMS.items()]
    rows += [[f"`{theirs}_N`", f"`{ours.format('N')}`"] for theirs, ours in TREC_EVAL.items()]
    return table(["written", "read as"], rows)


def format_table(_: str) -> str:
    """Which formats each kind of data comes in."""
    rows = [[kind, ", ".join(f"[`{form}`](#{form})" for form in forms)] for kind, forms in FORMATS.items()]
    return table(["what", "formats"], rows)


def column_table(_: str) -> str:
    """The names under which a column is found."""
    rows = [[f"`{column}`", ", ".join(f"`{name}`" for name in names)] for column, names in COLUMN_ALIASES.items()]
    return table(["column", "found under the names, the first one first"], rows)


def error_tree(_: str) -> str:
    """The tree of errors, as the module draws it."""
    equation = EQUATION.search(inspect.getdoc(errors) or "")
    lines = (equation[0] if equation else "").splitlines()
    return fenced("text", "\n".join(line[4:] for line in lines))


def code_tables(_: str) -> str:
    """Every code by the room that documents it: what makes it, what it says, what to do about it."""
    makers = message_tools().list_makers()
    parts = []
    for room, codes in documented_codes().items():
        rows = [
            [
                f'<a id="{code}"></a>`{code}`',
                _made_as(makers.get(code, set()), room),
                " ".join(filter(None, (words["meaning"], words.get("cause")))),
                words["remedy"],
            ]
            for code, words in sorted(codes.items())
        ]
        parts += [f"### Codes: {room}", table(["code", "made as", "what it says", "what to do"], rows)]
    return "\n\n".join(parts)


def documented_codes() -> dict[str, dict[str, dict[str, str]]]:
    """The words on every code by room, as the files of `docs/codes` have them; a dash in a file's name is a slash."""
    return {path.stem.replace("-", "/"): tomllib.loads(path.read_text()) for path in sorted(CODES.glob("*.toml"))}


def _made_as(makers: set[tuple[str, str]], room: str) -> str:
    """A note, or which errors; and the other rooms that make it."""
    kinds = ["note" if kind == "Note" else f"`{kind}`" for kind in sorted({kind for kind, _ in makers}, key=str.lower)]
    homes = {module.partition("/")[0].removesuffix(".py") for _, module in makers} - {room.partition("/")[0]}
    return ", ".join(kinds) + (f"; also in {', '.join(sorted(homes))}" if homes else "")


def message_tools() -> ModuleType:
    """`tools/messages.py`, which finds the codes in the source."""
    spec = spec_from_file_location("messages_tool", DOCS.parent / "tools" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    tools = module_from_spec(spec)
    spec.loader.exec_module(tools)
    return tools


def public_name(name: str) -> str:
    """A public name: its signature, what it is, and for a class what it offers."""
    thing = getattr(ringtrue, name)
    parts = [fenced("py", f"{name}{signature(thing)}"), linked(prose(thing))]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        rows = [[f"`{shown}`", (inspect.getdoc(member) or "").split("\n")[0]] for shown, member in _offers(thing)]
        parts += [table(["offers", "what it is"], rows)] if rows else []
    return "\n\n".join(parts)


def _offers(thing: type) -> Iterable[tuple[str, object]]:
    for name, raw in vars(thing).items():
        if name.startswith("_") or not (isinstance(raw, property | classmethod) or inspect.isfunction(raw)):
            continue
        member = inspect.getattr_static(thing, name)
        if isinstance(raw, property):
            yield f".{name}", member
        else:
            yield f".{name}{signature(getattr(thing, name), short=True)}", getattr(thing, name)


def signature(thing: object, *, short: bool = False) -> str:
    """A signature as people write it; with `short`, without types."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return "(message)"
    assert callable(thing)
    words, star = [], False
    for one in inspect.signature(thing).parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        typed = "" if short or one.annotation is one.empty else f": {_spelled(one.annotation, thing)}"
        name = f"**{one.name}" if one.kind is one.VAR_KEYWORD else one.name
        words.append(f"{name}{typed}{_default(one, spaced=bool(typed))}")
    returns = inspect.signature(thing).return_annotation
    arrow = "" if short or inspect.isclass(thing) or returns is inspect.Signature.empty else f" -> {returns}"
    inside = ", ".join(words)
    if short or len(inside) + len(arrow) < 90:
        return f"({inside}){arrow}"
    return "(\n" + "".join(f"    {word},\n" for word in words) + f"){arrow}"


def _default(one: inspect.Parameter, *, spaced: bool) -> str:
    if one.default is one.empty:
        return ""
    shown = "…" if callable(one.default) else repr(one.default)
    return f" = {shown}" if spaced else f"={shown}"


def _spelled(annotation: str, thing: object) -> str:
    """A type with the short names of its module spelled out, where that is not too long."""

    def spell(word: re.Match[str]) -> str:
        alias = vars(inspect.getmodule(thing)).get(word[0])
        if alias is None or inspect.isclass(alias) or inspect.ismodule(alias):
            return word[0]
        meant = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", str(alias)).replace("NoneType", "None")
        return meant if "[" in meant and len(meant) < 60 else word[0]

    return re.sub(r"\b[A-Z]\w+\b(?!\[)", spell, str(annotation))


def prose(thing: object) -> str:
    """A docstring without its examples."""
    return (inspect.getdoc(thing) or "").split("\nExamples:")[0].strip()


def linked(text: str) -> str:
    """Citation keys as links to the bibliography."""
    return CITATION.sub(lambda key: f"[[{key[1]}]](../bibliography.md#{key[1].lower()})", text)


def fenced(language: str, text: str) -> str:
    """A code block."""
    return f"```{language}\n{text.rstrip()}\n```"


def table(columns: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


PARTS: dict[str, Callable[[str], str]] = {
    "help": help_text,
    "commands": command_table,
    "measures": measure_table,
    "formulas": formulas,
    "parameters": parameter_table,
    "synonyms": synonym_table,
    "formats": format_table,
    "columns": column_table,
    "errors": error_tree,
    "codes": code_tables,
    "name": public_name,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
