"""A function runs only after a person has approved exactly that call.

    from holdpoint import gate

    @gate(title=lambda args: f"Delete {args['path']}")
    def delete(path: str) -> None: ...
"""

from .client import AsyncClient, Client, new_hold
from .errors import (
    AlreadyUsed,
    BadSignature,
    Cancelled,
    Denied,
    EditDoesNotFit,
    Expired,
    HoldpointError,
    Refused,
    Responded,
    TimedOut,
    Unreachable,
    Unreadable,
)
from .gate import gate
from .webhook import verify as verify_callback
from .wire import Hold

__version__ = "0.1.0"
__all__ = [
    "AlreadyUsed",
    "AsyncClient",
    "BadSignature",
    "Cancelled",
    "Client",
    "Denied",
    "EditDoesNotFit",
    "Expired",
    "Hold",
    "HoldpointError",
    "Refused",
    "Responded",
    "TimedOut",
    "Unreachable",
    "Unreadable",
    "gate",
    "new_hold",
    "verify_callback",
]
