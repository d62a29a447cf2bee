"""Calls tools with the official Python client, which reads the job from standard input."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    job = json.load(sys.stdin)
    program = StdioServerParameters(command=job["command"], args=job["args"], env=job["env"], cwd=job["cwd"])
    results = []
    async with Client(stdio_client(program)) as client:
        for name, arguments in job["calls"]:
            result = await client.call_tool(name, arguments)
            text = [block.text for block in result.content if block.type == "text"]
            results.append({"is_error": bool(result.is_error), "text": text, "structured": result.structured_content})
        print(json.dumps({"version": client.protocol_version, "results": results}))


asyncio.run(main())
