"""`import ringtrue`: every public name, loaded when first used, whatever else was imported."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import ringtrue as rt

ROOMS = ("formatting", "stats", "tables", "evaluation", "judges", "gold", "preference", "simulation", "files", "report")


def test_no_room_hides_a_public_name() -> None:
    for room in ROOMS:
        assert isinstance(import_module(f"ringtrue.{room}"), ModuleType)
    assert [name for name in rt.__all__ if isinstance(getattr(rt, name), ModuleType)] == []


@pytest.mark.slow
def test_report_stays_the_function_in_any_order() -> None:
    program = (
        "import ringtrue as rt; first = rt.report; import ringtrue.report; from ringtrue.report import Report, report; "
        "from ringtrue.report.model import Section; assert rt.report is first is report; "
        "assert (rt.Report, rt.Section) == (Report, Section)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_other_attributes_can_be_set_as_on_any_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rt, "report", subprocess)  # a module, but not our room of that name
    assert rt.report is subprocess
