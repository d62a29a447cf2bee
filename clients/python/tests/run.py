"""The client against a real server. `cargo xtask test --only clients` runs this.

The output is TAP: one line for each test. Words choose tests by a part of their name."""

import asyncio
import importlib
import inspect
import os
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "examples")]
os.environ["NO_PROXY"] = "127.0.0.1"
# No framework may send anything anywhere.
os.environ.update(OPENAI_AGENTS_DISABLE_TRACING="1", LANGSMITH_TRACING="false", OPENAI_API_KEY="none")

from server import Server  # noqa: E402

MODULES = ["protocol", "core", "async_core", "restart", "webhooks", "on_langgraph", "on_openai_agents", "on_pydantic_ai", "on_google_adk"]


def main(words: list[str]) -> int:
    server = Server()
    passed = failed = 0
    try:
        for name in MODULES:
            module = importlib.import_module(f"test_{name}")
            for title, test in inspect.getmembers(module, inspect.isfunction):
                if not title.startswith("test_") or not all(word in f"{name}.{title}" for word in words):
                    continue
                started = time.monotonic()
                try:
                    done = test(server)
                    if inspect.iscoroutine(done):
                        asyncio.run(done)
                except BaseException:
                    failed += 1
                    print(f"not ok {passed + failed} - {name}: {title[5:]}", flush=True)
                    traceback.print_exc()
                else:
                    passed += 1
                    took = time.monotonic() - started
                    print(f"ok {passed + failed} - {name}: {title[5:]} ({took:.1f} s)", flush=True)
    finally:
        server.close()
    print(f"# pass {passed}\n# fail {failed}", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
