"""Feishu's own SDK as a judge. Speaks JSON, one object a line, over standard input and output.

verify        requests to a webhook, as the SDK judges them
listen URL    the SDK's long connection; prints the events that it hands on
golden URL    the SDK's own requests for what a line asks for
"""

import json
import sys

import lark_oapi as lark
from lark_oapi.api.im.v1 import (
    CreateMessageRequest,
    CreateMessageRequestBody,
    PatchMessageRequest,
    PatchMessageRequestBody,
    ReplyMessageRequest,
    ReplyMessageRequestBody,
)
from lark_oapi.core.model import RawRequest
from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTriggerResponse


APP_ID = "cli_0123456789abcdef"


def say(what):
    print(json.dumps(what), flush=True)


def asked():
    for line in sys.stdin:
        yield json.loads(line)


def handler(key, token, heard):
    def message(data):
        text = json.loads(data.event.message.content)["text"]
        heard({"kind": "message", "text": text, "by": data.event.sender.sender_id.open_id})

    def press(data):
        event = data.event
        heard({"kind": "press", "value": event.action.value, "by": event.operator.open_id,
               "message": event.context.open_message_id})
        return P2CardActionTriggerResponse({"toast": {"type": "info", "content": "judged"}})

    builder = lark.EventDispatcherHandler.builder(key, token, lark.LogLevel.CRITICAL)
    return (builder.register_p2_im_message_receive_v1(message)
            .register_p2_card_action_trigger(press).build())


def verify():
    for line in asked():
        heard = []
        request = RawRequest()
        request.uri = "/"
        # The SDK looks headers up as the platform spells them.
        request.headers = {"-".join(w.capitalize() for w in k.split("-")): v
                           for k, v in line["headers"].items()}
        request.body = line["body"].encode()
        answer = handler(line["key"], line["token"], heard.append).do(request)
        say({"status": answer.status_code, "body": json.loads(answer.content), "heard": heard})


def listen(url):
    client = lark.ws.Client(APP_ID, "app-secret", domain=url, log_level=lark.LogLevel.CRITICAL,
                            event_handler=handler("", "", say))
    client.start()


def golden(url):
    client = (lark.Client.builder().app_id(APP_ID).app_secret("app-secret").domain(url)
              .log_level(lark.LogLevel.CRITICAL).build())
    messages = client.im.v1.message
    for line in asked():
        if line["what"] == "create":
            body = (CreateMessageRequestBody.builder().receive_id(line["to"])
                    .msg_type(line["kind"]).content(line["content"]).uuid(line["uuid"]).build())
            answer = messages.create(CreateMessageRequest.builder()
                                     .receive_id_type(line["type"]).request_body(body).build())
        elif line["what"] == "reply":
            body = (ReplyMessageRequestBody.builder().msg_type(line["kind"])
                    .content(line["content"]).reply_in_thread(line["in_thread"])
                    .uuid(line["uuid"]).build())
            answer = messages.reply(ReplyMessageRequest.builder()
                                    .message_id(line["to"]).request_body(body).build())
        else:
            body = PatchMessageRequestBody.builder().content(line["content"]).build()
            answer = messages.patch(PatchMessageRequest.builder()
                                    .message_id(line["to"]).request_body(body).build())
        data = getattr(answer, "data", None)
        say({"code": answer.code, "message": getattr(data, "message_id", None)})


if __name__ == "__main__":
    job, *words = sys.argv[1:]
    {"verify": verify, "listen": listen, "golden": golden}[job](*words)
