"""Studies that are shown several times and made once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ringtrue.cli.commands.simulate import STUDIES
from ringtrue.cli.studies import Study, StudyOutput, StudyParameters


@pytest.fixture(scope="module")
def made_studies() -> dict[str, StudyOutput]:
    """What the tests of a module have made so far."""
    return {}


@pytest.fixture
def each_study_once(made_studies: dict[str, StudyOutput], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question to a study is answered from memory, whatever format it is asked in."""

    def remembering(name: str, study: Study) -> Study:
        def run(parameters: StudyParameters) -> StudyOutput:
            key = f"{name}: {parameters}"
            if key not in made_studies:
                made_studies[key] = study.run(parameters)
            return made_studies[key]

        return replace(study, run=run)

    for name, study in STUDIES.items():
        monkeypatch.setitem(STUDIES, name, remembering(name, study))
