"""An MCP server that does whatever a hostile or broken one might: `stub.py FOLDER [HABIT...]`.

Its tools are read from FOLDER/tools.json at every list, so that a test changes them by writing that file.
What it carries out it notes in FOLDER/notes; FOLDER/habits may name more habits. With the habit `http` it serves Streamable HTTP on a free
port, which it writes to FOLDER/port; otherwise it speaks on its standard input and output.
"""

import json
import os
import subprocess
import sys
import threading
import time

FOLDER, HABITS = sys.argv[1], sys.argv[2:]
if os.path.exists(os.path.join(FOLDER, "habits")):
    HABITS += open(os.path.join(FOLDER, "habits")).read().split()
MODERN = "modern" in HABITS
LOCK = threading.Lock()
DEFAULT_TOOLS = [
    {"name": name, "description": "Does " + name + ".", "inputSchema": {"type": "object"}}
    for name in (
        "note die hang flood huge garbage ask ask_twice secret env fork lie error slow work link".split()
    )
]


def tools():
    try:
        with open(os.path.join(FOLDER, "tools.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return DEFAULT_TOOLS


def note(text):
    with open(os.path.join(FOLDER, "notes"), "a") as file:
        file.write(text + "\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


FORM = {
    "message": "Which colour?",
    "requestedSchema": {
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": ["red", "green"]}},
        "required": ["colour"],
    },
}
SECRET = {
    "message": "Log in, please.",
    "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}},
}
LINK = {"mode": "url", "url": "https://login.example.com/x", "message": "Log in there.", "elicitationId": "e1"}


class Speaker:
    """One direction out, and questions that wait for their answers."""

    def __init__(self, send):
        self.send = send
        self.asked = {}
        self.next = 1000

    def ask(self, params):
        with LOCK:
            self.next += 1
            number = self.next
        answered = threading.Event()
        self.asked[number] = [answered, None]
        self.send({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params})
        answered.wait(60)
        return self.asked.pop(number)[1]

    def hear(self, message):
        waiting = self.asked.get(message.get("id"))
        if waiting:
            waiting[1] = message.get("result")
            waiting[0].set()


def call(params, speaker):
    name, arguments = params["name"], params.get("arguments", {})
    questions = {"ask": FORM, "secret": SECRET, "link": LINK}
    if name in questions or name == "ask_twice":
        question = questions.get(name, FORM)
        if MODERN:
            answers = params.get("inputResponses")
            state = params.get("requestState", "")
            if answers is None or (name == "ask_twice" and state != "second"):
                again = "second" if answers is not None else "first"
                return {
                    "resultType": "input_required",
                    "requestState": again,
                    "inputRequests": {"q": {"method": "elicitation/create", "params": question}},
                }
            note(name)
            return text(json.dumps(answers["q"], sort_keys=True))
        answer = speaker.ask(question)
        if name == "ask_twice":
            answer = speaker.ask(question)
        note(name)
        return text(json.dumps(answer, sort_keys=True))
    if name == "work" and arguments.get("noisy"):
        return text("x" * 1_000_000)
    while name == "work" and arguments.get("endless"):
        note("work")
        time.sleep(0.02)
    note(name + " " + json.dumps(arguments, sort_keys=True))
    if name == "die":
        os._exit(3)
    if name == "hang":
        time.sleep(3600)
    if name == "slow":
        time.sleep(float(arguments.get("seconds", 1)))
    if name == "flood":
        return text("x" * 1_000_000)
    if name == "huge":
        return text("x" * (17 << 20))
    if name == "garbage":
        for _ in range(int(arguments.get("lines", 10))):
            speaker.send("this is no protocol")
    if name == "env":
        return text(json.dumps(dict(os.environ), sort_keys=True))
    if name == "fork":
        child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
        return text(str(child.pid))
    if name == "lie":
        return text("lies", structuredContent={"n": "seven"})
    if name == "error":
        return text("it did not work", isError=True)
    return text("noted")


def answer(message, speaker):
    method, params = message["method"], message.get("params") or {}
    if method == "server/discover":
        if "flees" in HABITS:
            os._exit(1)
        if MODERN:
            return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "stub", "version": version()}}}
        raise LookupError
    if method == "initialize":
        if MODERN:
            raise LookupError
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "stub", "version": version()}}
    if MODERN and "io.modelcontextprotocol/protocolVersion" not in params.get("_meta", {}):
        raise LookupError
    if method == "tools/list":
        if "endless" in HABITS:
            return {"tools": [], "nextCursor": str(time.monotonic())}
        if "circle" in HABITS:
            return {"tools": [], "nextCursor": "again"}
        if "crowd" in HABITS:
            return {"tools": [{"name": "t%d" % n, "inputSchema": {"type": "object"}} for n in range(600)]}
        shown = tools()
        if "pages" in HABITS:
            at = int(params.get("cursor", 0))
            page = {"tools": shown[at : at + 3]}
            if at + 3 < len(shown):
                page["nextCursor"] = str(at + 3)
            return page
        return {"tools": shown}
    if method == "tools/call":
        return call(params, speaker)
    if method == "ping":
        return {}
    raise LookupError


def version():
    try:
        with open(os.path.join(FOLDER, "version")) as file:
            return file.read()
    except FileNotFoundError:
        return "1"


def reply(message, speaker):
    try:
        result = answer(message, speaker)
        if MODERN:
            result.setdefault("resultType", "complete")
        speaker.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
    except LookupError:
        error = {"code": -32601, "message": "Method not found"}
        speaker.send({"jsonrpc": "2.0", "id": message["id"], "error": error})


def on_pipes():
    def send(message):
        line = message if isinstance(message, str) else json.dumps(message)
        with LOCK:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    speaker = Speaker(send)
    if "banner" in HABITS:
        send("Welcome to the stub!")
    if "babbles" in HABITS:
        for _ in range(1000):
            send("and another thing")
    if "complains" in HABITS:
        sys.stderr.write("the key is " + os.environ.get("STUB_KEY", "?") + "\n")
        sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            speaker.hear(message)
        elif message["method"] == "notifications/cancelled":
            note("cancelled")
        elif "id" in message:
            threading.Thread(target=reply, args=(message, speaker), daemon=True).start()


def on_http():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    speakers = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words):
            pass

        def empty(self, status, **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            message = json.loads(body)
            if "redirects" in HABITS and self.path != "/elsewhere":
                return self.empty(307, Location="/elsewhere")
            if "locked" in HABITS and self.headers.get("Authorization") != "Bearer stub-secret":
                return self.empty(401)
            if "method" not in message:
                for speaker in list(speakers):
                    speaker.hear(message)
                return self.empty(202)
            if "id" not in message:
                return self.empty(202)
            if any(len(self.headers.get_all(name)) > 1 for name in self.headers):
                return self.empty(400)
            if MODERN and message["method"] != "initialize":
                twice = (self.headers.get("Mcp-Method"), self.headers.get("MCP-Protocol-Version"))
                if twice != (message["method"], "2026-07-28"):
                    return self.empty(400)
                if message["method"] == "tools/call" and self.headers.get("Mcp-Name") != message["params"]["name"]:
                    return self.empty(400)
            if not MODERN and message["method"] not in ("initialize", "server/discover"):
                if self.headers.get("Mcp-Session-Id") != "session-1" or self.headers.get("MCP-Protocol-Version") != "2025-11-25":
                    return self.empty(400)
            self.send_response(200)
            if message["method"] == "initialize":
                self.send_header("Mcp-Session-Id", "session-1")
            if message["method"] == "tools/call":
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.close_connection = True
                self.end_headers()

                def send(said):
                    data = said if isinstance(said, str) else json.dumps(said)
                    with LOCK:
                        self.wfile.write(("event: message\ndata: " + data + "\n\n").encode())
                        self.wfile.flush()

                if message["params"]["name"] == "die":
                    note("die")
                    return
                speaker = Speaker(send)
                speakers.append(speaker)
                reply(message, speaker)
                speakers.remove(speaker)
                return
            said = []
            reply(message, Speaker(said.append))
            out = json.dumps(said[-1]).encode()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(os.path.join(FOLDER, "port.new"), "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))
    server.serve_forever()


on_http() if "http" in HABITS else on_pipes()
