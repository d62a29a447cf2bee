"""Callbacks: signed as Standard Webhooks says, with the secret that the server's configuration names."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from .errors import BadSignature

TOLERANCE_S = 300


def verify(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance_s: float = TOLERANCE_S,
    now: float | None = None,
) -> dict[str, Any]:
    """The event that the body holds, if one of its signatures is by one of the secret's keys.

    `body` are the bytes as they arrived. A delivery may come twice: `webhook-id` is the same then.
    """
    known = {name.lower(): value for name, value in headers.items()}
    try:
        id, sent, claimed = (known[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise BadSignature(f"the header {missing} is missing") from None
    if not (sent.isascii() and sent.isdigit() and len(sent) < 15):
        raise BadSignature("webhook-timestamp is not a number of seconds")
    away = abs((time.time() if now is None else now) - int(sent))
    if away > tolerance_s:
        raise BadSignature(f"it was signed {away:.0f} s from now; {tolerance_s:.0f} s are let pass")
    signed = f"{id}.{sent}.".encode() + body
    claims = [claim.removeprefix("v1,") for claim in claimed.split(" ") if claim.startswith("v1,")]
    good = False
    for key in keys(secret):
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for claim in claims:
            good |= hmac.compare_digest(expected, claim.encode())
    if not good:
        raise BadSignature("no signature is by this secret")
    try:
        event = json.loads(body)
    except ValueError as error:
        raise BadSignature(f"the body is signed and is not JSON: {error}") from None
    if not isinstance(event, dict):
        raise BadSignature("the body is signed and is no event")
    return event


def keys(secret: str) -> list[bytes]:
    """One key, or the new and the old, each with `whsec_` before it; any other text is a key as it stands."""
    if not secret.strip():
        raise ValueError("the secret is empty")
    if not secret.lstrip().startswith("whsec_"):
        return [secret.encode()]
    found = []
    for part in secret.split():
        encoded = part.removeprefix("whsec_").rstrip("=")
        if encoded == part.rstrip("="):
            raise ValueError("every part of the secret must begin with `whsec_`")
        try:
            key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        except binascii.Error:
            raise ValueError("what follows `whsec_` must be base64") from None
        if not key:
            raise ValueError("the secret is empty")
        found.append(key)
    return found
