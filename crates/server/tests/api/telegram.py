"""A chat platform: as much of Telegram's Bot API as a server needs to write to people."""

import itertools
import time

from loopback import Loopback


class Telegram(Loopback):
    """Takes every message. `sent` says to which chat it came, and what it says."""

    def __init__(self):
        self.sent: list[tuple[str, str]] = []
        self.numbers = itertools.count(1)
        super().__init__()

    def answer(self, path: str, body: dict) -> tuple[int, object]:
        match path.rsplit("/", 1)[-1]:
            case "getMe":
                return well({"id": 1, "is_bot": True, "first_name": "Api", "username": "api_bot"})
            case "getUpdates":
                # Nobody writes: it waits as long as it was asked to.
                self.over.wait(body.get("timeout", 0))
                return well([])
            case "sendMessage":
                self.sent.append((str(body["chat_id"]), body["text"]))
                return well(message(body, next(self.numbers)))
            case "editMessageText":
                return well(message(body, body["message_id"]))
        return 404, {"ok": False, "error_code": 404, "description": "Not Found"}


def message(body: dict, number: int) -> dict:
    chat = {"id": body["chat_id"], "type": "private"}
    return {"message_id": number, "date": int(time.time()), "chat": chat, "text": body["text"]}


def well(result: object) -> tuple[int, object]:
    return 200, {"ok": True, "result": result}
