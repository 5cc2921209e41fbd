from __future__ import annotations

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.audit_log import load_audit_entries, record_action
from service.small_projects import NOW, project


def test_entries_come_back_newest_first_with_who_and_where(store: Store) -> None:
    small = project(store)
    ann = store.write(lambda c: create_account(c, kind="named", name="Ann", now=NOW))
    store.write(lambda c: record_action(c, "log in", account=ann, now=NOW))
    store.write(lambda c: record_action(c, "export", account=ann, project=small.id, detail={"rows": 7}, now=NOW + 1))
    store.write(lambda c: record_action(c, "tidy", now=NOW + 2))
    with store.read() as connection:
        found = [(one.action, one.handle, one.project, one.detail) for one in load_audit_entries(connection)]
        assert found == [
            ("tidy", None, None, {}),
            ("export", "ann", "small", {"rows": 7}),
            ("log in", "ann", None, {}),
        ]
        assert [one.action for one in load_audit_entries(connection, small.id)] == ["export"]
        assert [one.time for one in load_audit_entries(connection, limit=1)] == [NOW + 2]
