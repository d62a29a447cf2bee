"""An upstream of the modern era, made with the official Python package. Its tools write into the folder of its first argument.
With a port as the second, it is a service."""

import pathlib
import sys
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("writer", version="1.0")
room = pathlib.Path(sys.argv[1])


class Signature(BaseModel):
    name: Literal["Ana", "Ben"]


async def who() -> Elicit[Signature]:
    return Elicit("Who signs?", Signature)


@server.tool()
async def write(name: str, text: str) -> str:
    """Writes a file."""
    (room / name).write_text(text)
    return "written"


@server.tool()
async def list_directory(path: str) -> str:
    """Names the files of a folder."""
    return "\n".join(file.name for file in pathlib.Path(path).iterdir())


@server.tool()
async def create_directory(name: str) -> str:
    """Makes a folder."""
    (room / name).mkdir()
    return "made"


@server.tool()
async def sign(name: str, signature: Annotated[Signature, Resolve(who)]) -> str:
    """Signs a file."""
    (room / name).write_text(signature.name)
    return f"signed by {signature.name}"


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Adds a tool, and says that there are others now."""
    server.add_tool(list_directory, name=name)
    await ctx.notify_tools_changed()
    return "grown"


if len(sys.argv) > 2:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run()
