"""Numbers in words."""

from __future__ import annotations

from hypothesis import given, strategies as st

from ringtrue.formatting.phrases import format_amount, format_lead


@given(amount=st.floats(1e-12, 10), digits=st.integers(1, 6))
def test_an_amount_is_never_shown_as_0(amount: float, digits: int) -> None:
    text = format_amount(amount, digits)
    assert float(text.removeprefix("less than ")) > 0
    assert text.startswith("less than ") == (round(amount, digits) == 0)


def test_a_lead_whose_smaller_end_rounds_to_0_has_only_the_larger_one() -> None:
    assert format_lead(0.045, 0.267, 3) == "by 0.045 to 0.267"
    assert format_lead(-0.267, -0.0004, 3) == "by up to 0.267"
