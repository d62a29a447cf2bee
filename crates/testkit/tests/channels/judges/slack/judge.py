"""Slack's own SDK as a judge. Speaks JSON, one object a line, over standard input and output.

verify        requests to a webhook, as the SDK and Bolt judge them
listen URL    the SDK's Socket Mode over the fake; prints the events that it hands on
golden URL    the SDK's own requests for what a line asks for
blocks        messages and modals, as the SDK's classes read them
"""

import json
import sys
from threading import Event

from slack_bolt import App, BoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse


def say(what):
    print(json.dumps(what), flush=True)


def asked():
    for line in sys.stdin:
        yield json.loads(line)


def bolt(secret, heard):
    """An app that only listens. Whom it speaks as is not asked of anybody."""
    identity = AuthorizeResult(enterprise_id=None, team_id="T0FAKE", bot_user_id="U0BOT", bot_id="B0BOT",
                               bot_token="xoxb-fake-bot-token")
    app = App(signing_secret=secret, authorize=lambda **_: identity, process_before_response=True)

    @app.event("message")
    def message(event):
        heard.append({"kind": "message", "text": event["text"], "by": event["user"]})

    @app.action("hp_allow")
    def press(ack, body, action):
        ack()
        heard.append({"kind": "press", "value": action["value"], "by": body["user"]["id"],
                      "message": body["container"]["message_ts"]})

    @app.view("hp_form")
    def form(ack, view):
        ack()
        heard.append({"kind": "form", "metadata": view["private_metadata"], "values": view["state"]["values"]})

    return app


def verify():
    for line in asked():
        heard = []
        verifier = SignatureVerifier(line["secret"])
        signed = verifier.is_valid_request(line["body"], line["headers"])
        answer = bolt(line["secret"], heard).dispatch(
            BoltRequest(body=line["body"], headers={**line["headers"], "content-type": line["type"]}))
        say({"signed": signed, "status": answer.status, "body": answer.body, "heard": heard})


def sign():
    for line in asked():
        verifier = SignatureVerifier(line["secret"])
        say({"signature": verifier.generate_signature(timestamp=line["timestamp"], body=line["body"])})


def listen(url):
    client = SocketModeClient(app_token="xapp-1-A0FAKE-fake-app-token",
                              web_client=WebClient(token="xoxb-fake-bot-token", base_url=url + "/"))

    def handle(client, request):
        payload = None
        if request.payload.get("type") == "view_submission":
            payload = {"response_action": "errors", "errors": {"text": "judged"}}
        client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id, payload=payload))
        say({"kind": request.type, "payload": request.payload})

    client.socket_mode_request_listeners.append(handle)
    client.connect()
    Event().wait()


def golden(url):
    client = WebClient(token="xoxb-fake-bot-token", base_url=url + "/")
    methods = {
        "chat.postMessage": client.chat_postMessage,
        "chat.update": client.chat_update,
        "chat.postEphemeral": client.chat_postEphemeral,
        "views.open": client.views_open,
        "conversations.history": client.conversations_history,
        "auth.test": client.auth_test,
    }
    for line in asked():
        try:
            say(methods[line["method"]](**line["arguments"]).data)
        except Exception as error:  # what went wrong is for the test to see
            say({"ok": False, "error": repr(error)})


def blocks():
    for line in asked():
        try:
            if "view" in line:
                view = View(**line["view"])
                view.validate_json()
                say({"blocks": view.to_dict()["blocks"]})
            else:
                parsed = Block.parse_all(line["blocks"])
                for block in parsed:
                    block.validate_json()
                say({"blocks": [block.to_dict() for block in parsed]})
        except Exception as error:
            say({"error": repr(error)})


if __name__ == "__main__":
    {"verify": verify, "sign": sign, "listen": listen, "golden": golden, "blocks": blocks}[sys.argv[1]](*sys.argv[2:])
