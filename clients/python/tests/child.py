"""A program that is killed while it waits, and started again: `child.py KEY FILE [die]`."""

import os
import sys
from pathlib import Path

from holdpoint import AlreadyUsed, gate

key, file = sys.argv[1], Path(sys.argv[2])


@gate(title=f"append {key}", key=key)
def append(text: str) -> str:
    with file.open("a") as out:
        out.write(text + "\n")
    if "die" in sys.argv:
        os._exit(9)
    return "appended"


try:
    print(append("once"))
except AlreadyUsed as used:
    print(f"already used: {used.outcome} {used.result}")
