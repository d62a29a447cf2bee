"""A push service: takes every notice. What is in one only the browser could read."""

from loopback import Loopback

# What a browser gives beside its endpoint: the receiver's keys in the example of RFC 8291.
BROWSER_KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}


class PushService(Loopback):
    def __init__(self):
        self.taken = 0
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"

    def read(self, body: bytes) -> dict:
        """It is encrypted for the browser."""
        return {}

    def answer(self, path: str, body: dict) -> tuple[int, object]:
        self.taken += 1
        return 201, {}
