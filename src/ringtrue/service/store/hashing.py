"""What is stored of secrets, and of those who try to guess them."""

from __future__ import annotations

import hashlib


def hash_secret(secret: str) -> str:
    """What is stored of a secret that was drawn by lot: enough to know it again, and of no use to a thief.

    Examples:
        >>> hash_secret("abc")[:12]
        'ba7816bf8f01'
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def hash_attempt(kind: str, identifier: str) -> str:
    """How an attempt to log in is written down: not as somebody's name or address in plain words."""
    return f"{kind}:{hash_secret(identifier)[:32]}"
