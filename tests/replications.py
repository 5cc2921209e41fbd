"""How many experiments a simulation makes: few in `make test`, many in `make studies`; and what chance then allows."""

from __future__ import annotations

import numpy as np
import pytest


def short_and_long(name: str, short: int, long: int) -> pytest.MarkDecorator:
    """A parameter of a simulation: the number that `make test` can afford, and the one that tells more."""
    return pytest.mark.parametrize(name, [short, pytest.param(long, marks=pytest.mark.study)])


def room(draws: int, long: int, *, share: float = 0.95, errors: float = 4) -> float:
    """By how much so many standard errors of a share are more in few draws than in a long run."""
    return float(errors * np.sqrt(share * (1 - share)) * (draws**-0.5 - long**-0.5))
