"""Callbacks: the vector that Standard Webhooks publishes, and what a forger would try."""

import http.server
import json
import queue
import threading
from typing import Any

from help import raises
from holdpoint import BadSignature, Client, verify_callback
from holdpoint.webhook import keys
from serving import SECRET, serving

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1_614_265_330
BODY = b'{"test": 2432232314}'
HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": str(NOW),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}


def check(secret: str = KEY, body: bytes = BODY, now: float = NOW, **headers: str) -> Any:
    told = HEADERS | {f"webhook-{name}": value for name, value in headers.items()}
    return verify_callback(secret, told, body, now=now)


def test_the_published_vector_is_taken(_: Any) -> None:
    assert check() == json.loads(BODY)
    upper = {name.upper(): value for name, value in HEADERS.items()}
    assert verify_callback(KEY, upper, BODY, now=NOW) == json.loads(BODY)
    assert check(secret=f"whsec_bmV3IGtleQ== {KEY}"), "while keys are exchanged both count"
    assert check(signature=f"v1a,xyz v1,AAAA {HEADERS['webhook-signature']}")


def test_everything_else_is_refused(_: Any) -> None:
    for why in (
        lambda: check(body=BODY + b" "),
        lambda: check(id="msg_other"),
        lambda: check(timestamp=str(NOW + 1)),
        lambda: check(signature="v1,"),
        lambda: check(signature=""),
        lambda: check(signature="v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF="),
        lambda: check(signature=HEADERS["webhook-signature"].replace("v1", "v2")),
        lambda: check(timestamp="soon"),
        lambda: check(timestamp="-1"),
        lambda: check(now=NOW + 301),
        lambda: check(now=NOW - 301),
        lambda: check(secret="whsec_bmV3IGtleQ=="),
        lambda: verify_callback(KEY, {}, BODY, now=NOW),
    ):
        raises(BadSignature, why)


def test_a_bad_secret_is_said_to_be_bad(_: Any) -> None:
    for secret in ("", " ", "whsec_", "whsec_?", f"{KEY} other"):
        raises(ValueError, lambda secret=secret: keys(secret))
    assert keys("any text") == [b"any text"]


def test_a_callback_of_the_real_server_is_taken_and_a_changed_one_is_not(_: Any) -> None:
    heard: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.put((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as receiver, serving() as (url, token, person):
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{receiver.server_port}/decided"
        with Client(url, token) as client:
            callback = {"url": address, "secret_env": "CI_CALLBACK_SECRET"}
            hold = client.open("Deploy", tool="deploy", arguments={"version": "1.4"}, callback=callback)
        person.approve(person.show(hold["id"]))
        headers, body = heard.get(timeout=30)
        receiver.shutdown()
    event = verify_callback(SECRET, headers, body)
    assert event["type"] == "hold.decided" and event["data"]["hold"]["id"] == hold["id"]
    assert event["data"]["hold"]["call"]["arguments"] == {"version": "1.4"}
    raises(BadSignature, lambda: verify_callback(SECRET, headers, body.replace(b"1.4", b"1.5")))
