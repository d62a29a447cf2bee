"""`python-telegram-bot` as a judge. Speaks JSON, one object a line, over standard input and output.

read             updates and messages, as the library reads them
poll URL TOKEN   the library's long polling over the fake; answers every key that is pressed
golden URL TOKEN the library's own requests for what a line asks for
"""

import asyncio
import json
import sys

from telegram import Bot, InlineKeyboardMarkup, LinkPreviewOptions, Message, ReplyParameters, Update
from telegram.error import TelegramError
from telegram.ext import ApplicationBuilder, TypeHandler
from telegram.request import HTTPXRequest


def say(what):
    print(json.dumps(what), flush=True)


def asked():
    for line in sys.stdin:
        yield json.loads(line)


def seen(update):
    query, message = update.callback_query, update.message
    if query:
        return {"kind": "press", "id": query.id, "by": query.from_user.id, "data": query.data,
                "chat": query.message.chat.id, "message": query.message.message_id}
    if message and (message.migrate_to_chat_id or message.migrate_from_chat_id):
        return {"kind": "moved", "chat": message.chat.id, "to": message.migrate_to_chat_id,
                "from": message.migrate_from_chat_id}
    if message:
        entities = {kind.user.id if kind.user else text: kind.type
                    for kind, text in message.parse_entities().items()}
        return {"kind": "message", "text": message.text, "by": message.from_user and message.from_user.id,
                "chat": message.chat.id, "topic": message.message_thread_id if message.is_topic_message else None,
                "forwarded": message.forward_origin is not None, "entities": entities}
    return {"kind": "other"}


def read():
    for line in asked():
        say(seen(Update.de_json(line, None)))


def application(url, token):
    return ApplicationBuilder().token(token).base_url(f"{url}/bot").build()


def poll(url, token):
    async def handle(update, _):
        say(seen(update))
        if update.callback_query:
            await update.callback_query.answer("judged", show_alert=True)

    app = application(url, token)
    app.add_handler(TypeHandler(Update, handle))
    app.run_polling(allowed_updates=["message", "callback_query"], stop_signals=None, close_loop=False)


def golden(url, token):
    async def main():
        bot = Bot(token, base_url=f"{url}/bot", request=HTTPXRequest())
        async with bot:
            for line in asked():
                say(await one(bot, line["method"], line["arguments"]))

    asyncio.run(main())


async def one(bot, method, given):
    given = dict(given)
    if "reply_markup" in given:
        given["reply_markup"] = InlineKeyboardMarkup.de_json(given["reply_markup"], bot)
    if "link_preview_options" in given:
        given["link_preview_options"] = LinkPreviewOptions.de_json(given["link_preview_options"], bot)
    if "reply_parameters" in given:
        given["reply_parameters"] = ReplyParameters.de_json(given["reply_parameters"], bot)
    call = {"sendMessage": bot.send_message, "editMessageText": bot.edit_message_text,
            "answerCallbackQuery": bot.answer_callback_query, "setWebhook": bot.set_webhook,
            "getWebhookInfo": bot.get_webhook_info, "getMe": bot.get_me}[method]
    try:
        told = await call(**given)
    except TelegramError as error:
        return {"error": type(error).__name__, "message": error.message,
                "retry_after": getattr(error, "_retry_after", None) and error._retry_after.total_seconds(),
                "moved": getattr(error, "new_chat_id", None)}
    if isinstance(told, Message):
        keys = told.reply_markup.inline_keyboard if told.reply_markup else []
        return {"text": told.text, "chat": told.chat.id, "message": told.message_id,
                "keys": [key.callback_data for row in keys for key in row]}
    return {"told": told if isinstance(told, bool) else told.to_dict()}


if __name__ == "__main__":
    {"read": read, "poll": poll, "golden": golden}[sys.argv[1]](*sys.argv[2:])
