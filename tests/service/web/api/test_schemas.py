"""What responses publish of the store's records: a field that a record gets later is shown to nobody by accident."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pkgutil import iter_modules

import pytest

from ringtrue.service.web import api

MODULES = [import_module(f"{api.__name__}.{module.name}") for module in iter_modules(api.__path__)]
MODELS = {
    name: getattr(module, name)
    for module in MODULES
    for name in re.findall(r"@fields_of\(.*\)\nclass (\w+)", inspect.getsource(module))
}
PUBLISHED = {
    "DisagreementResponse": "item query query_text description narrative left right votes spread verdict",
    "VerdictResponse": "item query doc other answer reason handle time",
    "FailedTaskResponse": "task account handle traps passed closed outcome answers",
    "RecountResponse": "again not_again",
    "GoldResponse": "design documents new queries expected notes note_codes",
    "TokenResponse": "id name scopes created expires revoked",
    "AuditEntryResponse": "time action handle project detail",
    "PersonResponse": "id handle name kind owner created erased roles",
    "InvitationResponse": (
        "id role kind note left code created expires revoked partial_code own_codes id_required one_account"
    ),
    "CompletionResponse": "account handle worker kind code replaced invitation task time",
    "ProgressResponse": "items wanted done open complete unsure skipped judges",
    "QueryProgressResponse": "query text items wanted done open complete unsure",
    "JudgeProgressResponse": (
        "account handle kind done open unsure skipped seconds last_seen tasks traps passed failed_tasks gold"
    ),
    "JudgmentResponse": (
        "id query left right judge kind answer reason counts version time seconds away queue batch place"
    ),
    "LabelResponse": "value name hint",
    "ScaleResponse": "kind labels",
    "SettingsResponse": (
        "judges task_size traps traps_needed failed_traps minutes lease_minutes "
        "shortcuts highlight html together active "
        "completion_answered completion_unsure completion_traps completion_seconds"
    ),
    "ProjectResponse": "name title guidelines scale settings created closed roles",
    "ImportResponse": "new known judges notes note_codes",
    "RevertedImportResponse": "labels items",
    "UploadResponse": "id kind name size time",
    "DocumentResponse": "name title url snippet text",
    "QuestionResponse": "assignment version place query query_text description narrative left right answer",
    "TaskResponse": "id queue size open opened leased deadline closed outcome code",
}


def test_every_response_that_is_made_from_a_record_is_known_here() -> None:
    assert set(MODELS) == set(PUBLISHED)
    assert len(MODELS) == sum(inspect.getsource(module).count("\n@fields_of(") for module in MODULES)


@pytest.mark.parametrize("name", MODELS)
def test_a_response_has_the_fields_that_somebody_chose_to_publish(name: str) -> None:
    assert sorted(MODELS[name].model_fields) == sorted(PUBLISHED[name].split())
