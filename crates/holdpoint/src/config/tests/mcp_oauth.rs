//! `auth = "oauth"` and what goes with it, when it is wrong.

use super::bad::check;

#[test]
fn mcp_servers_with_oauth() {
    let mcp = |more: &str| format!("[[tools]]\nname = \"files\"\nkind = \"mcp\"\n{more}");
    let url = "url = \"https://x.example/mcp\"\n";
    let of = |more: &str| mcp(&format!("{url}auth = \"oauth\"\n{more}"));
    check(
        &mcp(&format!("{url}auth = \"oaut\"\n")),
        "h.toml:5: `auth` cannot be `oaut`; did you mean `oauth`?",
    );
    check(&mcp("argv = [\"x\"]\nauth = \"oauth\"\n"), "h.toml:5: `auth` goes with `url`");
    for (key, value) in [
        ("client_id", "\"c\""),
        ("client_secret_env", "\"C\""),
        ("client_secret_file", "\"c\""),
        ("scopes", "[\"a\"]"),
        ("allow_private_addresses", "true"),
    ] {
        check(
            &mcp(&format!("{url}{key} = {value}\n")),
            &format!("h.toml:5: `{key}` goes with `auth = \"oauth\"`"),
        );
    }
    check(
        &mcp("url = \"http://x.example/mcp\"\nauth = \"oauth\"\n"),
        "h.toml:4: `url` must begin with https://, since tokens go there; plain http:// goes with \
         `allow_private_addresses`",
    );
    check(
        &of("headers_env = { authorization = \"T\" }\n"),
        "h.toml:5: `headers_env` has `Authorization`, which `auth = \"oauth\"` gives; take one of them out",
    );
    check(
        &of("client_secret_env = \"C\"\n"),
        "h.toml:5: `client_id` is missing: a secret belongs to a client that was registered by hand",
    );
    check(
        &of("client_id = \"\"\n"),
        "h.toml:6: `client_id` is empty; leave it out, and one is registered",
    );
    check(
        &of("scopes = [\"a b\"]\n"),
        "h.toml:6: a scope has no blanks, quotes or special letters; write several as a list",
    );
}
