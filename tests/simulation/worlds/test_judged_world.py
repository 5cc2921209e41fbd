"""Worlds of runs with a gold and a bronze judge: what can be true in one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.simulation.worlds.judged_world import BronzeJudge, JudgedWorld


def test_what_a_better_system_has_beyond_the_others_lies_in_its_own_documents() -> None:
    world = JudgedWorld(shares=(0.5, 0.4), common=0.5)
    assert world.shared == 5
    assert world.own_lift.tolist() == pytest.approx([1 / 3, 0])  # 5 × 0.4 in common, and 5 × (0.4 + 0.6 / 3) of its own


@given(shares=st.lists(st.floats(0, 0.5), min_size=1, max_size=4), common=st.floats(0, 0.4))
def test_documents_in_common_and_of_its_own_make_up_the_share_of_each_system(
    shares: list[float], common: float
) -> None:
    world = JudgedWorld(shares=tuple(shares), common=common)
    base, own = min(shares), 1 - world.shared / world.k
    assert ((1 - own) * base + own * (base + (1 - base) * world.own_lift)).tolist() == pytest.approx(shares)


@pytest.mark.parametrize(
    ("odd", "says"),
    [
        ({"queries": 1}, "a world needs 2 queries"),
        ({"k": 0}, "a world needs 2 queries"),
        ({"shares": ()}, "a world needs 2 queries"),
        ({"grades": 0}, "a world needs 2 queries"),
        ({"unseen": -1}, "a world needs 2 queries"),
        ({"shares": (1.4, 0.2)}, "shares and rates lie from 0 to 1"),
        ({"common": -0.1}, "shares and rates lie from 0 to 1"),
        ({"query_icc": 1.0}, "likeness below 1"),
        ({"judge": BronzeJudge(relevant=1.2)}, "shares and rates lie from 0 to 1"),
        ({"second_judge": BronzeJudge(moods=1.0)}, "likeness below 1"),
        ({"common": 1.0, "shares": (0.4, 0.5)}, "10 of 10 documents in common cannot have shares as far apart as"),
        ({"common": 0.8, "shares": (0.4, 0.6)}, "8 of 10 documents in common"),
    ],
)
def test_a_world_that_cannot_be_is_refused(odd: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        JudgedWorld(**odd)
