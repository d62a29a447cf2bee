//! Mistakes in what is said about MCP servers, with the exact words and the line.

use super::bad::check;

#[test]
fn mcp_upstreams() {
    let upstream = |more: &str| format!("[mcp.upstreams.files]\n{more}");
    check(&upstream(""), "h.toml:1: `argv` is missing (or `url`): an upstream is a server");
    check(
        &upstream("argv = [\"x\"]\nurl = \"http://localhost/\"\n"),
        "h.toml:3: give `argv` (a program that we start) or `url` (a service), not both",
    );
    check(
        &upstream("argv = [\"x\"]\nheaders_env = { A = \"B\" }\n"),
        "h.toml:1: `headers_env` goes with `url`",
    );
    check(
        &upstream("url = \"https://ana:hunter2@x.example/mcp\"\n"),
        "h.toml:2: this is not a URL without a password; write it like `https://tools.example.com/mcp`",
    );
    for key in ["auth = \"oauth\"", "scopes = [\"a\"]", "allow_private_addresses = true"] {
        let name = key.split(' ').next().unwrap();
        let message = format!("h.toml:3: `{name}` goes with `url`");
        check(&upstream(&format!("argv = [\"x\"]\n{key}\n")), &message);
    }
    let url = "url = \"https://x.example/mcp\"\n";
    check(
        &upstream(&format!("{url}client_id = \"c\"\n")),
        "h.toml:3: `client_id` goes with `auth = \"oauth\"`",
    );
    check(
        &upstream("url = \"http://x.example/mcp\"\nauth = \"oauth\"\n"),
        "h.toml:2: `url` must begin with https://, since tokens go there; plain http:// goes with \
         `allow_private_addresses`",
    );
    let tool = format!("[[tools]]\nname = \"files\"\nkind = \"mcp\"\n{url}auth = \"oauth\"\n");
    check(
        &format!("{tool}{}", upstream(&format!("{url}auth = \"oauth\"\n"))),
        "h.toml:6: a tool with `auth = \"oauth\"` is called `files` already, and `holdpoint mcp connect files` could \
         mean either; give this server another name",
    );
    check(
        "[mcp.upstreams.a__b]\nargv = [\"x\"]\n",
        "h.toml:1: `a__b` cannot be the name of a server: use letters, digits, `-` and single `_`",
    );
    check("[mcp]\nwait = \"2h\"\n", "h.toml:2: `wait` is at most `1h`; a call comes back after it");
}

#[test]
fn mcp_servers() {
    let mcp = |more: &str| format!("[[tools]]\nname = \"files\"\nkind = \"mcp\"\n{more}");
    check(&mcp(""), "h.toml:1: `argv` is missing (or `url`): a tool of kind `mcp` needs a server");
    check(
        &mcp("argv = [\"x\"]\nurl = \"http://localhost/\"\n"),
        "h.toml:5: give `argv` (a program that we start) or `url` (a service), not both",
    );
    check(
        &mcp("argv = []\n"),
        "h.toml:4: `argv` is empty; name the server's program, such as `[\"mcp-server-git\"]`",
    );
    check(
        &mcp("url = \"https://ana:hunter2@x.example/mcp\"\n"),
        "h.toml:4: this is not a URL without a password; write it like `https://tools.example.com/mcp`",
    );
    check(
        &mcp("url = \"https://x.example/mcp\"\ncwd = \".\"\n"),
        "h.toml:5: `cwd` goes with `argv`",
    );
    check(
        &mcp("argv = [\"x\"]\nheaders_env = { A = \"B\" }\n"),
        "h.toml:5: `headers_env` goes with `url`",
    );
    check(
        &mcp("url = \"https://x.example/mcp\"\nheaders_env = { Authorization = \"Bearer x\" }\n"),
        "h.toml:5: this is not the name of an environment variable, such as `MY_SECRET`; the value itself does not belong here",
    );
    check(
        &mcp("argv = [\"x\"]\nonly = []\n"),
        "h.toml:5: `only` is empty, and so nothing would be offered; name tools, or leave it out",
    );
    check(
        &mcp("argv = [\"x\"]\neffects = \"transactional\"\n"),
        "h.toml:5: a tool of kind `mcp` cannot be `transactional`; it is one of `read_only`, `idempotent` and `at_most_once`",
    );
    check(
        &mcp("argv = [\"x\"]\neffects_of = { read = \"readonly\" }\n"),
        "h.toml:5: `effects_of` cannot be `readonly`; did you mean `read_only`?",
    );
    check(
        &mcp("argv = [\"x\"]\ninput_schema = {}\n"),
        "h.toml:5: a tool of kind `mcp` has no `input_schema`; it belongs to kind `command`, `http` and `client`",
    );
    check(
        "[[tools]]\nname = \"a__b\"\nkind = \"mcp\"\nargv = [\"x\"]\n",
        "h.toml:2: the tools of an MCP server are called `a__b__TOOL`, so its own name has no `__`",
    );
    check(
        &mcp("argv = [\"x\"]\n[[tools]]\nname = \"files__ask\"\nkind = \"human\"\n"),
        "h.toml:6: `files__ask` would look like a tool of the MCP server `files`; rename one",
    );
    check(
        &mcp(
            "argv = [\"x\"]\nonly = [\"read\"]\n[models.m]\nprovider = \"scripted\"\nscript = \"builtin:demo\"\n[[agents]]\nid = \"a\"\nmodel = \"m\"\ntools = [\"files__write\"]\n",
        ),
        "h.toml:12: there is no tool `files__write`; add it under `[[tools]]` (there are `files`)",
    );
}
