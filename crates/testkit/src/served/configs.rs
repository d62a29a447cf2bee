//! How configurations of the real program begin in tests: a server, a scripted model, and one agent with
//! a tool that leaves a line in the witness. What a test is about follows after it.

/// Agent `ops` with these tools, of which `append` is here, and `root`, who is nobody's colleague.
/// `server` are more keys of the server.
pub fn appending(server: &str, tools: &[&str]) -> String {
    format!(
        r#"
[server]
listen = "127.0.0.1:@PORT@"
{server}

[store]
url = "sqlite:data"

[models.script]
provider = "scripted"
script = "script.toml"

[[tools]]
name = "append"
kind = "command"
description = "Appends a line."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
cwd = "@SITE@"
input_schema = {{ type = "object" }}

[[agents]]
id = "ops"
model = "script"
tools = {tools:?}

[[people]]
id = "root"
roles = ["admin"]
"#
    )
}

/// What `@SERVER@` stands for: where it listens, and its database.
pub(super) const SERVER: &str = r#"[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"
"#;

/// What `@SCRIPTED@` stands for: the model `scripted`, which thinks with `script.toml`.
pub(super) const SCRIPTED: &str = r#"[models.scripted]
provider = "scripted"
script = "script.toml"
"#;

/// What `@WITNESS@` stands for: a tool that leaves a note.
pub(super) const WITNESS: &str = r#"[[tools]]
name = "witness"
kind = "command"
description = "Leaves a note."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
input_schema = { type = "object", required = ["note"], properties = { note = { type = "string" } } }
"#;

/// Agent `worker`, who leaves notes.
pub const NOTING: &str = r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"

[models.scripted]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "worker"
model = "scripted"
tools = ["witness"]

[[tools]]
name = "witness"
kind = "command"
description = "Leaves a note."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
input_schema = { type = "object", required = ["note"], additionalProperties = false, properties = { note = { type = "string" } } }
"#;
