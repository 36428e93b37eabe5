"""Signed cookies, and tokens that tie a form to the session it was made for."""

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer

COOKIE = "sightline"
LIFETIME = 60 * 60 * 24 * 60
STAFF_LIFETIME = 60 * 60 * 12
MOST_STUDIES = 50
MOST_HELD = 10_000
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""No letter that is taken for another."""


@dataclass(slots=True)
class Session:
    """Who a browser is: a rater in some studies, perhaps staff."""

    id: str
    raters: dict[str, int] = field(default_factory=dict)
    """Study's slug to rater."""
    staff: tuple[int, int, float] | None = None
    """Staff member, the session number that must still hold, and the time of login."""
    fresh: bool = False
    """Not yet in a cookie."""

    def become(self, slug: str, rater: int | None) -> None:
        """Another person sits there now, or nobody: forms of the one before hold no longer."""
        if self.raters.pop(slug, None) is not None:
            self.id = secrets.token_hex(16)
        if rater is not None:
            self.raters[slug] = rater


class Sessions:
    """Reads and writes the session cookie."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._held: dict[str, tuple[Session, float]] = {}
        self._signer = URLSafeTimedSerializer(
            secret, salt="session", signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"}
        )

    def read(self, cookie: str | None) -> Session:
        """The cookie's session; a forged, damaged or old one is a new visitor."""
        if cookie:
            try:
                known, signed = self._open(cookie)
                if time.time() - signed <= LIFETIME:
                    return replace(known, raters=dict(known.raters))  # theirs to change
            except (BadData, KeyError, TypeError, ValueError):
                pass
        return Session(secrets.token_hex(16), fresh=True)

    def _open(self, cookie: str) -> tuple[Session, float]:
        """A cookie's session and the time of its signature; those that held are remembered for a while."""
        if cookie in self._held:
            return self._held[cookie]
        raw, signed = self._signer.loads(cookie, return_timestamp=True)
        if len(self._held) >= MOST_HELD:
            self._held.clear()
        self._held[cookie] = found = (_session(raw), signed.timestamp())
        return found

    def write(self, session: Session) -> str:
        recent = dict(list(session.raters.items())[-MOST_STUDIES:])
        return str(self._signer.dumps({"id": session.id, "r": recent, "s": session.staff}))

    def resume_code(self, rater: int) -> str:
        """What lets a rater go on at another device: their number and a mark that only this server makes."""
        mark = hmac.new(self._secret, f"resume:{rater}".encode(), hashlib.sha256).digest()
        letters = "".join(LETTERS[byte % 32] for byte in mark[:10])
        return f"{rater}-{letters[:5]}-{letters[5:]}"

    def resumed(self, code: str) -> int | None:
        """The rater of a resume code, however it was typed; None where it was not made here."""
        plain = "".join(code.upper().split()).replace("O", "0").replace("I", "1").replace("L", "1")
        number = plain.partition("-")[0]
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            return None
        known = self.resume_code(int(number)).replace("-", "")
        matches = hmac.compare_digest(known.encode(), plain.replace("-", "").encode())
        return int(number) if matches else None

    def csrf(self, session: Session) -> str:
        return hmac.new(self._secret, f"csrf:{session.id}".encode(), hashlib.sha256).hexdigest()

    def csrf_holds(self, session: Session, token: str | None) -> bool:
        return bool(token) and hmac.compare_digest(self.csrf(session).encode(), str(token).encode())


def _session(raw: Any) -> Session:
    staff = raw["s"]
    raters = {str(slug): int(rater) for slug, rater in raw["r"].items()}
    return Session(str(raw["id"]), raters, (int(staff[0]), int(staff[1]), float(staff[2])) if staff else None)
