"""DingTalk's own SDK as a judge. Speaks JSON, one object a line, over standard input and output.

listen    the SDK's stream; prints what it hands on, and answers presses
golden    the SDK's own requests for what a line asks for
envelope  seals and opens the events of an organisation, with `dingtalk-sdk`

Where the platform is stands in DINGTALK_OPENAPI_ENDPOINT, which the SDK reads when it is loaded.
"""

import json
import logging
import sys

import dingtalk_stream
from dingtalk_stream import AckMessage, CallbackHandler, CardReplier, ChatbotMessage

QUIET = logging.getLogger("judge")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


def say(what):
    print(json.dumps(what), flush=True)


def client():
    credential = dingtalk_stream.Credential("ding1", "client-secret")
    return dingtalk_stream.DingTalkStreamClient(credential, logger=QUIET)


class Message(CallbackHandler):
    async def process(self, callback):
        message = ChatbotMessage.from_dict(callback.data)
        say({"kind": "message", "text": message.text.content, "by": message.sender_staff_id,
             "chat": message.conversation_id, "type": message.conversation_type})
        return AckMessage.STATUS_OK, "OK"


class Press(CallbackHandler):
    async def process(self, callback):
        press = dingtalk_stream.CardCallbackMessage.from_dict(callback.data)
        say({"kind": "press", "card": press.card_instance_id, "by": press.user_id,
             "params": press.content["cardPrivateData"]["params"]})
        return AckMessage.STATUS_OK, {"cardData": {"cardParamMap": {"statusText": "judged"}}}


def listen():
    stream = client()
    stream.register_callback_handler(ChatbotMessage.TOPIC, Message())
    stream.register_callback_handler(CallbackHandler.TOPIC_CARD_CALLBACK, Press())
    stream.start_forever()


def golden():
    stream = client()
    for line in sys.stdin:
        ask = json.loads(line)
        message = ChatbotMessage.from_dict(
            {"conversationType": ask["type"], "conversationId": ask["chat"],
             "senderStaffId": ask["chat"], "senderId": "s", "msgId": "m", "createAt": 1})
        replier = CardReplier(stream, message)
        if ask["what"] == "reply":
            message.session_webhook = ask["session"]
            handler = dingtalk_stream.ChatbotHandler()
            handler.dingtalk_client = stream
            handler.logger = QUIET
            getattr(handler, ask["how"])(*ask["words"], message)
        elif ask["what"] == "deliver":
            replier.create_and_deliver_card(ask["template"], ask["data"], **ask["more"])
        else:
            replier.put_card_data(ask["card"], ask["data"], **ask["more"])
        say({"done": True})


def envelope():
    from dingtalk.core.exceptions import InvalidSignatureException
    from dingtalk.crypto import DingTalkCrypto

    for line in sys.stdin:
        ask = json.loads(line)
        crypto = DingTalkCrypto(ask["token"], ask["key"], ask["app"])
        if "seal" in ask:
            say(crypto.encrypt_message(ask["seal"], nonce=ask["nonce"], timestamp=ask["at"]))
            continue
        told = ask["open"]
        try:
            opened = crypto.decrypt_message(
                told, told["msg_signature"], told["timeStamp"], told["nonce"])
            say({"opened": opened})
        except InvalidSignatureException:
            say({"opened": None})


if __name__ == "__main__":
    {"listen": listen, "golden": golden, "envelope": envelope}[sys.argv[1]]()
