"""A server made with the official Python package: `modern.py PORT`, or without a port on pipes.

Its one tool asks who signs before it writes a letter, with a question of the modern era."""

import sys
from typing import Annotated, Literal

from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("letters", version="1.0")


class Signature(BaseModel):
    name: Literal["Ana", "Ben"]


async def who() -> Elicit[Signature]:
    return Elicit("Who signs?", Signature)


@server.tool()
async def sign(letter: str, signature: Annotated[Signature, Resolve(who)]) -> str:
    """Signs a letter."""
    return f"{letter} Yours, {signature.name}"


if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
