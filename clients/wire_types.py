"""The types of both clients, made from the OpenAPI document that the real server serves.

`cargo xtask clients` writes them; `cargo xtask test --only clients` fails when what is checked in differs.
The output is TAP: one line for each file."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
SAYS = "@generated from /openapi.json by `cargo xtask clients`. Do not edit."


def document(folder: str) -> Path:
    words = [os.environ["HOLDPOINT_BIN"], "demo", "--json", "--listen", "127.0.0.1:0", "--data", f"{folder}/data"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"{url}/openapi.json", timeout=30) as reply:
            served = json.load(reply)
    finally:
        server.kill()
        server.wait()
    path = Path(folder) / "openapi.json"
    path.write_text(json.dumps(served))
    return path


def python_types(openapi: Path, folder: str) -> str:
    out = Path(folder) / "wire.py"
    words = [sys.executable, "-B", "-W", "ignore", "-m", "datamodel_code_generator", "--input", str(openapi)]
    words += ["--input-file-type", "openapi", "--output-model-type", "typing.TypedDict", "--disable-timestamp"]
    words += ["--target-python-version", "3.11", "--formatters", "builtin", "--use-union-operator"]
    words += ["--custom-file-header", f"# {SAYS}", "--output", str(out)]
    subprocess.run(words, check=True, cwd=folder)
    return out.read_text()


def typescript_types(openapi: Path, folder: str) -> str:
    out = Path(folder) / "wire.ts"
    program = HERE / "typescript/node_modules/.bin/openapi-typescript"
    subprocess.run([program, openapi, "--output", out], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return f"// {SAYS}\n{out.read_text()}"


def main(write: bool) -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="holdpoint-types-") as folder:
        openapi = document(folder)
        made = {
            "python/src/holdpoint/wire.py": python_types(openapi, folder),
            "typescript/src/wire.ts": typescript_types(openapi, folder),
        }
    for number, (name, text) in enumerate(made.items(), 1):
        file = HERE / name
        if write:
            file.write_text(text)
        same = file.is_file() and file.read_text() == text
        failed += not same
        print(f"{'ok' if same else 'not ok'} {number} - types: clients/{name}", flush=True)
        if not same:
            print("# it is not what the server's document says; run `cargo xtask clients`", flush=True)
    print(f"# pass {len(made) - failed}\n# fail {failed}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
