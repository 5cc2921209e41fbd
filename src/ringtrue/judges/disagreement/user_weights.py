"""How likely at least M of N users say the top level, given what one of them says."""

from __future__ import annotations

import math
import re
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError

UserShare: TypeAlias = tuple[int, int]  # at least M of N users
MAX_USERS = 500  # beyond them powers of p are too small for a float


def parse_user_share(share: str | UserShare) -> UserShare:
    """`1/3` as (1, 3): at least one of three users.

    Examples:
        >>> parse_user_share("1/3")
        (1, 3)
        >>> parse_user_share("3/1")
        Traceback (most recent call last):
        ringtrue.errors.UsageError: at least 3 of 1 users cannot be: M/N needs 0 ≤ M ≤ N and 1 ≤ N ≤ 500, such as 1/3
    """
    if isinstance(share, str):
        match = re.fullmatch(r"\s*(-?\d{1,9})\s*/\s*(-?\d{1,9})\s*", share)
        if match is None:
            raise UsageError(f"expected 'at least M of N users' as M/N, such as 1/3; found '{share}'")
        share = int(match[1]), int(match[2])
    if not isinstance(share, tuple | list) or len(share) != 2 or not all(isinstance(number, int) for number in share):
        raise UsageError(f"expected 'at least M of N users' as (M, N) or 'M/N', such as 1/3; found {share!r}")
    least, users = share
    if not 0 <= least <= users or not 1 <= users <= MAX_USERS:
        raise UsageError(
            f"at least {least} of {users} users cannot be: M/N needs 0 ≤ M ≤ N and 1 ≤ N ≤ {MAX_USERS}, such as 1/3"
        )
    return least, users


def weight(p: ArrayLike, least: int, users: int, *, top: bool = False) -> NDArray[np.float64]:
    """How likely at least M = `least` of N = `users` say the top level T, where one of them has said i.

        i < T:  Σ_{m=M}^{N−1} C(N−1, m) p^m (1−p)^{N−1−m},    p = p_{T|i}
        i = T:  the same sum from m = M − 1,                   p = p_{T|T}    [Demeester14, eq. 4 and 5]

    `top` says that it was T. Holds where the other users are like each other, and each makes up his own mind.

    Examples:
        >>> weight([0.15, 0.23], 1, 3).round(2)
        array([0.28, 0.41])
        >>> float(weight(0.3, 2, 2, top=True)), float(weight(0.3, 2, 2))
        (0.3, 0.0)
    """
    least, users = parse_user_share((least, users))
    p = np.asarray(p, dtype=np.float64)
    if np.any((p < 0) | (p > 1)):
        raise UsageError(f"a probability lies between 0 and 1, found {float(p[(p < 0) | (p > 1)].flat[0]):g}")
    fixed = fixed_weight(least, users, top=top)
    if fixed is not None:
        return np.full(p.shape, fixed)
    others, needed = users - 1, least - top
    below = needed <= others / 2
    terms = range(needed) if below else range(needed, users)
    probability = sum((math.comb(others, m) * p**m * (1 - p) ** (others - m) for m in terms), np.zeros_like(p))
    return cast("NDArray[np.float64]", np.clip(1 - probability if below else probability, 0, 1))


def fixed_weight(least: int, users: int, *, top: bool) -> float | None:
    """The weight where no p can change it: that of the top for one user, of a lower level for all; None elsewhere.

    Examples:
        >>> fixed_weight(1, 3, top=True), fixed_weight(3, 3, top=False), fixed_weight(1, 3, top=False)
        (1.0, 0.0, None)
    """
    if least - top <= 0:
        return 1.0
    return 0.0 if least - top > users - 1 else None
