"""Calls tools with the official Python client, which reads the job from standard input: before a program, or at an address."""

import asyncio
import contextlib
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult


async def main() -> None:
    job = json.load(sys.stdin)
    options = {}
    if job.get("form"):

        async def answer(_context, params):
            print(json.dumps({"asked": params.message}), flush=True)
            return ElicitResult(action="accept", content=job["form"])

        options["elicitation_callback"] = answer
    async with contextlib.AsyncExitStack() as stack:
        if "url" in job:
            headers = {"authorization": f"Bearer {job['token']}"}
            # Waiting for a person takes as long as it takes.
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
            transport = streamable_http_client(job["url"], http_client=http)
        else:
            program = StdioServerParameters(command=job["command"], args=job["args"], env=job["env"], cwd=job["cwd"])
            transport = stdio_client(program)
        client = await stack.enter_async_context(Client(transport, mode=job.get("mode", "auto"), **options))
        results = []
        for name, arguments in job["calls"]:
            result = await client.call_tool(name, arguments)
            text = [block.text for block in result.content if block.type == "text"]
            results.append({"is_error": bool(result.is_error), "text": text, "structured": result.structured_content})
        print(json.dumps({"version": client.protocol_version, "results": results}))


asyncio.run(main())
