"""`ringtrue serve`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, option, output_options
from ringtrue.cli.output import OutputFormat, emit, print_notes
from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.cli.spelling import CommandLine
from ringtrue.errors import FileError, StoreError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note, Suggestion, spell

if TYPE_CHECKING:
    from ringtrue.service.store import Store
    from ringtrue.service.web.preflight import Check
    from ringtrue.service.web.request_logs import LogFormat


WIDTH = 80  # columns of a terminal


@click.command("serve", cls=Command)
@option(
    "--db URL",
    "An SQLite file, or postgresql://user@host/name; made when not there.",
    to="database",
    default="ringtrue.db",
    envvar="RINGTRUE_DB",
    show_envvar=True,
)
@option("--host", "Where to listen; 0.0.0.0 for every network.", default="127.0.0.1")
@option("--port", "0 takes a free one.", type=click.IntRange(0, 65535), default=8000)
@option("--workers", "How many processes serve; more than one with PostgreSQL.", type=click.IntRange(1, 64), default=1)
@option("--base-url URL", "How people reach it through a proxy: https://judge.example.org.")
@option("--upload-limit MB", "How much may be sent at once.", type=click.IntRange(1, 100_000), default=1000)
@option("--log-format", "Write a line for each request to standard error.", choices=["text", "json"])
@option("--restore FILE", "First put a backup into the database, which must be empty.")
@option(
    "--check",
    "Check whether the server could start and what starting would change; serve nothing. A low disk is reported; a "
    "full one fails the check.",
    is_flag=True,
)
@output_options
def command(
    database: str,
    host: str,
    port: int,
    workers: int,
    base_url: str | None,
    upload_limit: int,
    log_format: LogFormat | None,
    restore: str | None,
    check: bool,
    form: OutputFormat,
) -> None:
    """Collect judgments in a browser.

    Serves the pages on which owners make projects and judges judge, until Ctrl-C. The first time, it prints a link
    that makes whoever opens it the owner. Only this machine can reach it; for others, put a proxy with HTTPS before
    it, and tell its address with --base-url.
    """
    try:
        from ringtrue.service.store import Store
        from ringtrue.service.store.invitations import invite_first_owner
        from ringtrue.service.web.app import (
            ServerSettings,
            open_listener,
            require_one_process_on_sqlite,
            serve,
        )
        from ringtrue.service.web.origins import is_loopback, normalise_base_url
        from ringtrue.service.web.preflight import Target, check_server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ringtrue"):
            raise
        raise StoreError(
            "missing-package",
            f"collecting judgments needs more packages ({error.name} is missing): pip install 'ringtrue[web]', or "
            f"in a copy of the sources pip install '.[web]'",
        ) from None

    if check:
        _print_checks(form, check_server(Target(database, host, port, base_url, workers)))
        return
    address = normalise_base_url(base_url)
    require_one_process_on_sqlite(database, workers)
    with open_listener(host, port) as listener:
        notes: list[Note] = []
        with _remove_new_file_on_error(database), Store.open(database) as store:
            if restore is not None:
                notes.append(_restore_from(store, restore))
            secret = store.write(lambda connection: invite_first_owner(connection, now=time.time()))
        public_url = address or f"http://{_browsable_host(host)}:{listener.getsockname()[1]}"
        if not is_loopback(host) and not (address or "").startswith("https://"):
            notes.append(
                Note(
                    "reachable-without-https",
                    f"{host} can be reached from other machines, and without HTTPS passwords and answers travel in "
                    f"plain text: put an HTTPS proxy before it",
                    parameter="base_url",
                    suggestions=[Suggestion("gives its address", base_url=...)],
                )
            )
        owner_link = None if secret is None else f"{public_url}/welcome/{secret}"
        _print_address(form, public_url, _hide_password(database), owner_link, notes)
        server_settings = ServerSettings(
            database=database,
            base_url=address,
            upload_limit=upload_limit * 1_000_000,
            log_format=log_format,
            spelling=ShellSpelling(),
        )
        serve(server_settings, listener, workers=workers)


@contextmanager
def _remove_new_file_on_error(database: str) -> Iterator[None]:
    """Take the file of a new SQLite database away again where nothing came of it."""
    name = database.removeprefix("sqlite:///")
    path = Path(name)
    is_new = "://" not in name and not path.exists()
    try:
        yield
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise


def _restore_from(store: Store, file: str) -> Note:
    from ringtrue.service.store.backup import restore_backup

    path = Path(file)
    if not path.is_file():
        raise FileError("no-such-file", "there is no such file; a backup is a .zip that the server made", file=file)
    restored = restore_backup(store, path, now=time.time())
    rows = restored.manifest.rows
    counts = ", ".join(format_count(rows.get(name, 0), name) for name in ("project", "account", "judgment"))
    revoked = f"{format_count(restored.tokens, 'token')} and {format_count(restored.invitations, 'invitation')}"
    return Note(
        "backup-restored",
        f"restored from {file}: {counts}; everybody logs in again with the password of that time, and {revoked} of "
        f"that time are revoked: make new ones (links for crowd platforms go on)",
    )


def _browsable_host(host: str) -> str:
    browsable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{browsable}]" if ":" in browsable else browsable


def _hide_password(database: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(database).render_as_string(hide_password=True) if "://" in database else database


def _print_checks(form: OutputFormat, checks: list[Check]) -> None:
    """Say what was found, and end with exit code 1 where something is not as it should be."""
    payload = {"ok": all(check.ok for check in checks), "checks": [check.as_dict() for check in checks]}
    here = CommandLine.here()
    rows = [[check.name, "ok" if check.ok else "FAILS", spell(check.detail, here)] for check in checks]
    if form == "table" and sys.stdout.isatty():
        rows = _wrap_details(rows)
    emit(form, payload=payload, grid=Grid(columns=["check", "", "detail"], rows=rows, left=3))
    if not payload["ok"]:
        raise click.exceptions.Exit(1)


def _wrap_details(rows: list[list[str]]) -> list[list[str]]:
    """The same rows, with what does not fit into a line of a terminal on further ones below."""
    name_width, status_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = []
    for name, status, detail in rows:
        first, *more = wrap(detail, WIDTH - name_width - status_width - 4, break_on_hyphens=False) or [""]
        lines += [[name, status, first], *(["", "", line] for line in more)]
    return lines


def _print_address(
    form: OutputFormat, public_url: str, database: str, owner_link: str | None, notes: list[Note]
) -> None:
    if form == "table":
        print_notes(notes)
        click.echo(f"ringtrue serves {database} at {public_url}; Ctrl-C ends it")
        if owner_link is not None:
            click.echo("nobody owns it yet: this link makes whoever opens it the owner, once, within a day")
            click.echo(f"  {owner_link}")
        return
    payload = {"url": public_url, "database": database, "owner_link": owner_link}
    rows = [[public_url, database, owner_link or ""]]
    emit(form, payload=payload, grid=Grid(columns=["url", "database", "owner link"], rows=rows, left=3), notes=notes)
