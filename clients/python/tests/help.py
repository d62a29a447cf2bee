"""What tests share: a call in a thread, and a server that answers nonsense."""

from __future__ import annotations

import http.server
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_numbers = itertools.count(1)


def fresh(word: str) -> str:
    """A title or key that no other test has."""
    return f"{word} {next(_numbers)}"


class Running:
    """A call that goes on while the test answers its hold."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None

        def run() -> None:
            try:
                self.result = function()
            except BaseException as error:  # noqa: BLE001
                self.error = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def end(self) -> Any:
        self.thread.join(60)
        assert not self.thread.is_alive(), "the call did not end"
        if self.error:
            raise self.error
        return self.result


def raises(kind: type[Any], function: Callable[[], Any]) -> Any:
    try:
        got = function()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected, and {got!r} came")


@contextmanager
def answers(reply: Callable[[str, str], tuple[int, str]]) -> Iterator[str]:
    """A server that answers each request with this status and body."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            self.rfile.read(length)
            status, body = reply(self.command, self.path)
            self.send_response(status)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = answer

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
