"""Staff passwords: Argon2id, and the same time for an unknown name as for a wrong password."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from sightline.errors import UsageError

SHORTEST, LONGEST = 10, 200
_hasher = PasswordHasher()
_nobody = _hasher.hash(secrets.token_hex(16))


def hash_password(password: str) -> str:
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsageError(f"a password has {SHORTEST} to {LONGEST} characters")
    return _hasher.hash(password)


def password_holds(stored: str | None, password: str) -> bool:
    """Whether the password is right; takes as long when there is nobody of that name."""
    try:
        _hasher.verify(stored or _nobody, password[:LONGEST])
    except (Argon2Error, InvalidHashError):
        return False
    return stored is not None
