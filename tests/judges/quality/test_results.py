"""What is printed of an answer."""

from __future__ import annotations

import ringtrue as rt


def test_flagged_judges_come_first_and_then_those_whose_best_is_lowest() -> None:
    table = {"item": list("aaabbbccc"), "judge": list("xyz" * 3), "label": [1, 1, 0, 0, 0, 0, 1, 1, 0]}
    quality = rt.judge_quality(table)
    assert quality.worst_first[0].judge == "z"
    assert [one.judge for one in quality] == ["x", "y", "z"]
    assert str(quality).startswith("3 judges, 9 labels ")
    assert f"{quality.accuracy}" in str(quality)
