"""A service on loopback that speaks JSON: what the server under test calls is there, and answers."""

import http.server
import json
import threading


class Loopback:
    """Each kind says in `answer` what it replies to a path and a body: a status and a document."""

    def __init__(self):
        service = self

        class Asked(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, reply = service.answer(self.path, service.read(body))
                text = json.dumps(reply).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except ConnectionError:
                    """The server has stopped while this one waited for news."""

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                """Our output is TAP."""

        self.over = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Asked)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def read(self, body: bytes) -> dict:
        return json.loads(body or b"{}")

    def answer(self, path: str, body: dict) -> tuple[int, object]:
        raise NotImplementedError

    def stop(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()
