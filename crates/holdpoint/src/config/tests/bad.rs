//! Every mistake, with the exact words and the line.

use crate::config::Config;

#[track_caller]
pub(super) fn check(text: &str, wanted: &str) {
    match Config::parse(text, "h.toml") {
        Ok(_) => panic!("this was taken, and should have been: {wanted}\n{text}"),
        Err(why) => assert_eq!(why.to_string(), wanted, "{text}"),
    }
}

#[test]
fn what_is_no_toml() {
    check("[server\n", "h.toml:1: unclosed table, expected `]`");
    check("\n\na = 1\na = 2\n", "h.toml:4: duplicate key");
    check("listen\n", "h.toml:1: key with no value, expected `=`");
}

#[test]
fn unknown_keys() {
    check("[sever]\n", "h.toml:1: unknown key `sever`; did you mean `server`?");
    check(
        "[server]\nlisten = \"127.0.0.1:1\"\nlisen = \"x\"\n",
        "h.toml:3: unknown key `lisen`; did you mean `listen`?",
    );
    check(
        "[store]\npath = \"x\"\n",
        "h.toml:2: unknown key `path`; the keys here are `url`, `password_env`, `password_file`, `folder`, `sealing_key_env` and `sealing_key_file`",
    );
    check(
        "[models.m]\nprovider = \"anthropic\"\nmodel = \"m\"\napi_key = \"sk-1\"\n",
        "h.toml:4: secrets do not belong in this file: take `api_key` out and use `api_key_env` or `api_key_file`",
    );
    check(
        "[[policy.rules]]\nname = \"r\"\nthen = \"ask\"\n[policy.rules.ask]\nrole = [\"admin\"]\n",
        "h.toml:5: unknown key `role`; did you mean `roles`?",
    );
    check("[doors.world]\n", "h.toml:1: unknown key `world`; did you mean `worlds`?");
    check(
        "[channels.fax]\n",
        "h.toml:1: `platform` is missing in `[channels.fax]`; it is one of `feishu`, `dingtalk`, `slack`, `telegram`, \
         `webhook` and `email`",
    );
}

#[test]
fn wrong_types_and_missing_keys() {
    check("[server]\nlisten = 80\n", "h.toml:2: a string is expected here, and not integer `80`");
    check("[[agents]]\nmodel = \"m\"\n", "h.toml:1: `id` is missing");
    check("\n[[tools]]\nname = \"t\"\n", "h.toml:2: `kind` is missing");
    check("[models.m]\n", "h.toml:1: `provider` is missing");
}

#[test]
fn servers_and_stores() {
    check(
        "[server]\nlisten = \"localhost\"\n",
        "h.toml:2: `localhost` is not an address with a port; write it like `127.0.0.1:7420` or `[::1]:7420`",
    );
    check(
        "[server]\npublic_url = \"hold.example.com\"\n",
        "h.toml:2: `hold.example.com` is not the address of a site; write it like `https://holdpoint.example.com`, without a path",
    );
    check(
        "[server]\ntrusted_proxies = [\n  \"10.0.0.1\",\n  \"10.0.0.0/40\",\n]\n",
        "h.toml:4: `10.0.0.0/40` is not an address or a network; write it like `10.0.0.7` or `10.0.0.0/8`",
    );
    check("[server.tls]\ncert_file = \"c\"\n", "h.toml:1: `key_file` is missing");
    check(
        "[store]\nurl = \"postgres://u:secret@h/db\"\n",
        "h.toml:2: the address holds a password, which does not belong here: put it into a variable or a file, and name that with `password_env` or `password_file`",
    );
    check(
        "[store]\nurl = \"postgres://h/db\"\n",
        "h.toml:2: the address of the database must name a user",
    );
    check(
        "[store]\nurl = \"sqlite:data\"\nfolder = \"x\"\n",
        "h.toml:3: `folder` goes with a `url` that begins with `postgres://`",
    );
    check(
        "[store]\nurl = \"sqlite:\"\n",
        "h.toml:2: name a folder, such as `sqlite:holdpoint-data`",
    );
    check(
        "[store]\nurl = \"mysql://x\"\n",
        "h.toml:2: this is not the address of a store; write `sqlite:holdpoint-data`, or `postgres://user@host/database`",
    );
}

#[test]
fn models() {
    check(
        "[models.m]\nprovider = \"antropic\"\n",
        "h.toml:2: `provider` cannot be `antropic`; did you mean `anthropic`?",
    );
    check(
        "[models.m]\nprovider = \"scripted\"\n",
        "h.toml:1: `script` is missing: the file with what the model says, or `builtin:demo`",
    );
    check(
        "[models.m]\nprovider = \"scripted\"\nscript = \"builtin:demo\"\nmodel = \"x\"\n",
        "h.toml:4: a scripted model has no `model`; it has `script`",
    );
}

#[test]
fn a_mistake_in_a_script_names_the_script() {
    let folder = std::env::temp_dir().join(format!("holdpoint-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("s.toml"), "[[turn]]\nwhen = {}\ntext = \"x\"\n").expect("a script");
    let name = folder.join("h.toml").display().to_string();
    let read = |script: &str| {
        let text = format!("[models.m]\nprovider = \"scripted\"\nscript = \"{script}\"\n");
        Config::parse(&text, &name).unwrap_err()
    };
    let bad = read("s.toml");
    let missing = read("none.toml");
    std::fs::remove_dir_all(&folder).expect("removed");
    let bad = &bad.0[0];
    assert_eq!(
        (bad.file.clone(), bad.line),
        (folder.join("s.toml").display().to_string(), Some(2))
    );
    assert_eq!(bad.message, "`when` is empty; write `any = true` for a turn that always fits");
    let missing = &missing.0[0];
    assert_eq!((missing.file.clone(), missing.line), (name, Some(3)));
    assert!(missing.message.contains("cannot be read"), "{}", missing.message);
}

/// One sound model and one sound tool, in lines 1 to 5.
const BASE: &str = "[models.m]\nprovider = \"scripted\"\nscript = \"builtin:demo\"\n\
                    [[tools]]\nname = \"ask\"\nkind = \"human\"\n";

#[test]
fn agents() {
    let agent = |rest: &str| format!("{BASE}[[agents]]\nid = \"a\"\n{rest}");
    check(&agent("model = \"mm\"\n"), "h.toml:9: there is no model `mm`; did you mean `m`?");
    check(
        "[[agents]]\nid = \"a\"\nmodel = \"x\"\n",
        "h.toml:3: there is no model `x`; add a section `[models.NAME]` for it",
    );
    check(
        &agent("model = \"m\"\ntools = [\n\"ask\",\n\"deploy\"]\n"),
        "h.toml:12: there is no tool `deploy`; add it under `[[tools]]` (there are `ask`)",
    );
    check(
        &agent("model = \"m\"\ntools = [\"ask\", \"ask\"]\n"),
        "h.toml:10: the tool `ask` is listed twice",
    );
    check(
        &agent("model = \"m\"\nwhile_pending = \"drop\"\n"),
        "h.toml:10: `while_pending` cannot be `drop`; it is one of `queue`, `supersede`, `refuse` and `deliver`",
    );
    check(
        &agent("model = \"m\"\nbudgets = { turns = 0 }\n"),
        "h.toml:10: `turns` is between 1 and 200",
    );
    for (budget, message) in [
        ("tokens = 0", "`tokens` is more than nothing; leave it out for no bound"),
        ("time = \"0s\"", "`time` is more than nothing; leave it out for no bound"),
        ("time = \"soon\"", "`soon` is not a duration; write it like `90s`, `5m`, `24h` or `7d`"),
        (
            "money = 2.50",
            "a budget of `money` needs a model whose section says what a million tokens cost: `price_input` and `price_output`",
        ),
    ] {
        let message = format!("h.toml:10: {message}");
        check(&agent(&format!("model = \"m\"\nbudgets = {{ {budget} }}\n")), &message);
    }
    check(
        &agent("model = \"m\"\n[[agents]]\nid = \"a\"\nmodel = \"m\"\n"),
        "h.toml:11: there is another agent `a` in line 8",
    );
    check(
        "[[agents]]\nid = \"a b\"\nmodel = \"m\"\n",
        "h.toml:2: `a b` cannot be the name of an agent: use 1 to 64 letters and digits, and any of `._-`",
    );
}

#[test]
fn tools() {
    let tool = |rest: &str| format!("[[tools]]\nname = \"t\"\n{rest}");
    check(
        &tool("kind = \"mcp\"\n"),
        "h.toml:1: `argv` is missing (or `url`): a tool of kind `mcp` needs a server",
    );
    check(
        &tool("kind = \"sqlite\"\n"),
        "h.toml:3: `kind` cannot be `sqlite`; it is one of `command`, `shell_cmd`, `sql`, `http`, `client`, `mcp` and `human`",
    );
    check(
        &tool("kind = \"human\"\ndatabase = \"x\"\n"),
        "h.toml:4: a tool of kind `human` has no `database`; it belongs to kind `sql`",
    );
    check(
        &tool("kind = \"command\"\nargv = [\"x\"]\n"),
        "h.toml:1: `description` is missing: a tool of kind `command` needs it",
    );
    check(
        &tool("kind = \"shell_cmd\"\nroots = []\n"),
        "h.toml:4: `roots` is empty; name the folders that commands may work in",
    );
    check(
        &tool("kind = \"sql\"\ndatabase = \"x\"\naccess = \"write\"\n"),
        "h.toml:5: `access` cannot be `write`; it is one of `query` and `modify`",
    );
    check(
        &tool("kind = \"sql\"\ndatabase = \"x\"\naccess = \"query\"\nallow_ddl = true\n"),
        "h.toml:6: `allow_ddl` goes with `access = \"modify\"`; a query changes nothing",
    );
    check(
        &tool("kind = \"sql\"\naccess = \"query\"\n"),
        "h.toml:1: `database` is missing: a tool of kind `sql` needs a SQLite file, or `database_env` or `database_file` for PostgreSQL",
    );
    check(
        &tool(
            "kind = \"sql\"\ndatabase = \"postgres://app:hunter2@db/shop\"\naccess = \"query\"\n",
        ),
        "h.toml:4: the address of a database holds a password, which does not belong here: put it into a variable or a file, and name that with `database_env` or `database_file`",
    );
    check(
        &tool("kind = \"sql\"\ndatabase = \"x\"\ndatabase_env = \"DB\"\naccess = \"query\"\n"),
        "h.toml:4: give `database` (a SQLite file), or `database_env` or `database_file` (PostgreSQL), not both",
    );
    check(
        &tool("kind = \"sql\"\ndatabase_env = \"DB\"\ndatabase_file = \"f\"\naccess = \"query\"\n"),
        "h.toml:5: give `database_env` or `database_file`, not both",
    );
    check(
        &tool("kind = \"sql\"\ndatabase_env = \"DB\"\naccess = \"query\"\nrows_max = 5\n"),
        "h.toml:6: `rows_max` goes with `access = \"modify\"`; a query changes nothing",
    );
    check(
        &tool("kind = \"sql\"\ndatabase = \"x\"\naccess = \"query\"\ntables = []\n"),
        "h.toml:6: `tables` is empty; name the tables that may be used, or take it out for all",
    );
    check(
        &tool(
            "kind = \"sql\"\ndatabase = \"x\"\naccess = \"modify\"\nallow_ddl = true\ntables = [\"a\"]\n",
        ),
        "h.toml:7: a list of tables says nothing about new ones: take `tables` or `allow_ddl` out",
    );
    check(
        &tool("kind = \"human\"\nasks = \"any\"\n"),
        "h.toml:4: `asks` cannot be `any`; it is one of `options`, `anything` and `questions`",
    );
    let command = |rest: &str| {
        tool(&format!("kind = \"command\"\ndescription = \"d\"\nargv = [\"x\"]\n{rest}"))
    };
    let sound = "input_schema = { type = \"object\" }\n";
    check(
        &command("input_schema = { type = \"string\" }\n"),
        "h.toml:6: `input_schema` describes the arguments, which are an object: it needs `type = \"object\"`",
    );
    check(
        &command("input_schema = '{\"type\": '\n"),
        "h.toml:6: `input_schema` is not JSON: EOF while parsing a value at line 1 column 9",
    );
    check(
        &command("input_schema = { type = \"object\", \"$ref\" = \"https://x/y\" }\n"),
        "h.toml:6: the schema refers to `https://x/y`; only `#` and `#/…` are followed, and nothing is fetched",
    );
    check(
        &command(&format!("{sound}effects = \"transactional\"\n")),
        "h.toml:7: a tool of kind `command` cannot be `transactional`; it is one of `read_only`, `idempotent` and `at_most_once`",
    );
    check(
        &command(
            "confirm = \"two_phase\"\ninput_schema = { type = \"object\", properties = { confirmed = {} } }\n",
        ),
        "h.toml:7: a two-phase tool gets the argument `confirmed` from us; take it out of its `input_schema`",
    );
    check(
        &command(&format!("{sound}confirm = \"twice\"\n")),
        "h.toml:7: `confirm` cannot be `twice`; it is one of `two_phase`",
    );
    check(
        &command(&format!("{sound}env = [\"PATH\", \"HOLDPOINT_TOKEN\"]\n")),
        "h.toml:7: Holdpoint's own variables are never given to a tool; leave this one out",
    );
    check(
        &command(&format!("{sound}time_limit = \"2d\"\n")),
        "h.toml:7: a time limit is between 1ms and 24h",
    );
    check(
        &command(&format!("{sound}approve_text = \"Yes, {{name}}\"\n")),
        "h.toml:7: the tool has no argument `name` to put into this sentence",
    );
    check(
        &command(&format!("{sound}approve_value = \"yes\"\n")),
        "h.toml:7: `approve_value` and `deny_value` come as a pair; give both or neither",
    );
    check(
        "[[tools]]\nname = \"t\"\nkind = \"human\"\n[[tools]]\nname = \"t\"\nkind = \"human\"\n",
        "h.toml:5: there is another tool `t` in line 2",
    );
}

#[test]
fn http_tools() {
    let http = |rest: &str| {
        format!(
            "[[tools]]\nname = \"t\"\nkind = \"http\"\ndescription = \"d\"\n\
             input_schema = {{ type = \"object\", properties = {{ id = {{}} }}, required = [\"id\"] }}\n{rest}"
        )
    };
    check(&http(""), "h.toml:1: `url` is missing: a tool of kind `http` needs it");
    let url = "url = \"https://api.example/{id}\"\n";
    check(
        &http(&format!("{url}database = \"x\"\n")),
        "h.toml:7: a tool of kind `http` has no `database`; it belongs to kind `sql`",
    );
    check(
        &http("url = \"http://api.example/{id}\"\n"),
        "h.toml:6: `url` must begin with https://; plain http:// goes with `allow_private_addresses`",
    );
    check(
        &http("url = \"https://{id}/\"\n"),
        "h.toml:6: a host that the model chooses must be one of a list: name them in `hosts`",
    );
    check(
        &http("url = \"https://127.0.0.1/{id}\"\n"),
        "h.toml:6: 127.0.0.1 is a loopback address, and only public addresses may be called",
    );
    check(
        &http("url = \"https://api.example/\"\n"),
        "h.toml:6: the argument `id` goes nowhere; use `{id}`, or take it out",
    );
    check(
        &http(&format!("{url}method = \"FETCH\"\n")),
        "h.toml:6: `FETCH` is not a method; it is one of GET, HEAD, POST, PUT, PATCH and DELETE",
    );
    check(
        &http(&format!("{url}body = {{ a = 1 }}\n")),
        "h.toml:6: a GET has no body; take it out, or use POST",
    );
    check(
        &http(&format!("{url}method = \"POST\"\nbody = {{ a = 1 }}\nform = {{ a = \"1\" }}\n")),
        "h.toml:9: give `body` or `form`, not both",
    );
    check(
        &http(&format!("{url}headers_env = {{ Authorization = \"Bearer hunter2\" }}\n")),
        "h.toml:7: this is not the name of an environment variable, such as `MY_SECRET`; the value itself does not belong here",
    );
    check(
        &http(&format!("{url}headers = {{ Host = \"x\" }}\n")),
        "h.toml:6: the header `host` is Holdpoint's to write; take it out",
    );
    check(
        &http(&format!("{url}effects = \"transactional\"\n")),
        "h.toml:7: a tool of kind `http` cannot be `transactional`; it is one of `read_only`, `idempotent` and `at_most_once`",
    );
    check(
        &http(&format!("{url}time_limit = \"11m\"\n")),
        "h.toml:6: the time limit of a request is at most 600 s",
    );
}

#[test]
fn people() {
    check(
        "[[people]]\nid = \"ana\"\n",
        "h.toml:2: nobody has the role `admin`; give it to somebody, who then gets the first login link",
    );
    check(
        "[[people]]\nid = \"ana\"\nroles = [\"admin\"]\n[[people]]\nid = \"ana\"\n",
        "h.toml:5: there is another person `ana` in line 2",
    );
    check(
        "[[people]]\nid = \"ana\"\nroles = [\"admin\"]\nidentities = { slack = \"U1\" }\n\
         [[people]]\nid = \"bob\"\nidentities = { slack = \"U1\" }\n",
        "h.toml:7: this account of `slack` belongs to `ana` already; one account is one person",
    );
    check(
        "[[people]]\nid = \"ana\"\nidentities = { slak = \"U1\" }\n",
        "h.toml:3: unknown key `slak`; did you mean `slack`?",
    );
    let lark =
        "[channels.lark]\nplatform = \"feishu\"\napp_id = \"cli_1\"\napp_secret_env = \"S\"\n";
    let ana = |links: &str| {
        format!("[[people]]\nid = \"ana\"\nroles = [\"admin\"]\nidentities = {{ {links} }}\n")
    };
    let bob = |links: &str| format!("[[people]]\nid = \"bob\"\nidentities = {{ {links} }}\n");
    check(
        &format!("{}{lark}", ana("larc = \"ou_1\"")),
        "h.toml:4: unknown key `larc`; did you mean `lark`?",
    );
    check(
        &format!("{}{}{lark}", ana("feishu = \"ou_1\""), bob("lark = \"ou_1\"")),
        "h.toml:7: this account of `lark` belongs to `ana` already, by what stands under `feishu`; one account is one person, so give `ana` an account of `lark` as well, or take this one out",
    );
    check(
        &format!("{}{}{lark}", ana("lark = \"ou_1\""), bob("feishu = \"ou_1\"")),
        "h.toml:7: this account of `lark` belongs to `ana` already; under `feishu` it counts there too, so give `bob` an account of `lark` as well, or take this one out",
    );
    let eu = lark.replace("lark", "lark-eu");
    check(
        &format!("{}{lark}{eu}", ana("feishu = \"ana.b\"")),
        "h.toml:4: `ana.b` is what one organisation calls somebody, and another may call somebody else so: under `feishu` it would count in `lark` and in `lark-eu`; link it by the name of its channel, such as `lark = \"ana.b\"`",
    );
    let cn = lark.replace("[channels.lark]", "[channels.feishu]");
    check(
        &format!("{}{cn}{lark}", ana("feishu = \"ana.b\"")),
        "h.toml:4: `ana.b` is what one organisation calls somebody, and another may call somebody else so: under `feishu` it would count in `feishu` and in `lark`; link it by the name of its channel, such as `lark = \"ana.b\"`, and call no channel `feishu`",
    );
    let ding = |name: &str| {
        format!(
            "[channels.{name}]\nplatform = \"dingtalk\"\nclient_id = \"d\"\nclient_secret_env = \"S\"\n"
        )
    };
    check(
        &format!("{}{}{}", ana("dingtalk = \"ou_1\""), ding("north"), ding("south")),
        "h.toml:4: `ou_1` is what one organisation calls somebody, and another may call somebody else so: under `dingtalk` it would count in `north` and in `south`; link it by the name of its channel, such as `north = \"ou_1\"`",
    );
    for good in [
        format!("{}{lark}", ana("feishu = \"ana.b\"")),
        format!("{}{lark}{eu}", ana("feishu = \"ou_1\"")),
        format!("{}{lark}{eu}", ana("feishu = \"on_1\"")),
        format!("{}{lark}{eu}", ana("lark = \"ana.b\", lark-eu = \"ana.b\"")),
        // There is nowhere else where it would count.
        format!("{}{cn}{lark}", ana("feishu = \"ana.b\", lark = \"ana\"")),
        format!("{}{}", ana("dingtalk = \"m1\""), ding("north")),
    ] {
        Config::parse(&good, "h.toml").unwrap_or_else(|why| panic!("{why}\n{good}"));
    }
    check(&ana("feishu = \" \""), "h.toml:4: this names no account; take `feishu` out");
    let slack = lark.replace("lark", "slack");
    check(
        &format!("{}{slack}", ana("slack = \"U1\"")),
        "h.toml:4: `slack` is a platform, and your channel `slack` is one of `feishu`; call that channel something else",
    );
}

#[test]
fn policies() {
    let people = "[[people]]\nid = \"ana\"\nroles = [\"admin\", \"dba\"]\n";
    let rule = |rest: &str| format!("{people}[[policy.rules]]\nname = \"r\"\n{rest}");
    check(
        "[policy]\ndefault = \"alow\"\n",
        "h.toml:2: `default` cannot be `alow`; did you mean `allow`?",
    );
    check(
        "[policy]\nexpires = \"5 minutes\"\n",
        "h.toml:2: `5 minutes` is not a duration; write it like `90s`, `5m`, `24h` or `7d`",
    );
    check(
        "[policy]\nexpires = \"0s\"\n",
        "h.toml:2: a question that expires at once cannot be answered; give people some time",
    );
    check(
        "\n[policy]\nexpires = \"9999d\"\n",
        "h.toml:2: rule `default`: it expires after more than ten years",
    );
    check(
        &rule("then = \"ask\"\nask = { roles = [\"dbas\"] }\n"),
        "h.toml:7: nobody has the role `dbas`; did you mean `dba`?",
    );
    check(
        &rule("then = \"ask\"\nask = { people = [\"joe\"] }\n"),
        "h.toml:7: there is no person `joe`; mend the rule, or add it under `[[people]]`",
    );
    check(
        &rule("then = \"ask\"\nask = { roles = [\"dba\"], quorum = 2 }\n"),
        "h.toml:4: rule `r`: it needs 2 people, and only 1 could answer",
    );
    check(
        &rule("then = \"ask\"\nask = { quorum = 0 }\n"),
        "h.toml:4: rule `r`: a quorum of 0 would approve by itself; it is at least 1",
    );
    check(
        &rule("then = \"allow\"\nask = { roles = [\"dba\"] }\n"),
        "h.toml:4: rule `r`: it says whom to ask, but its `then` is `allow`; write `then = \"ask\"`",
    );
    check(
        &rule("then = \"ask\"\nask = { escalate_to = [\"boss\"] }\n"),
        "h.toml:7: `escalate_to` comes with a later version; leave it out until then",
    );
    check(
        &rule("then = \"ask\"\nrisk = \"huge\"\n"),
        "h.toml:7: `risk` cannot be `huge`; it is one of `low`, `medium`, `high` and `critical`",
    );
    check(
        &rule("then = \"deny\"\n[policy.rules.match.args]\n\"/a\" = { equal = 1 }\n"),
        "h.toml:8: unknown key `equal`; did you mean `equals`?",
    );
    check(
        &rule("then = \"deny\"\nmatch = { args = { \"/a\" = { less_than = \"5\" } } }\n"),
        "h.toml:7: `less_than` takes a number",
    );
    check(
        &rule("then = \"deny\"\nmatch = { effects = \"readonly\" }\n"),
        "h.toml:7: `effects` cannot be `readonly`; did you mean `read_only`?",
    );
    check(
        &rule("then = \"deny\"\n[[policy.rules]]\nname = \"r\"\nthen = \"deny\"\n"),
        "h.toml:7: rule `r`: another rule has the same name",
    );
}

#[test]
fn what_comes_later() {
    check(
        "[channels.email]\nenabled = true\n",
        "h.toml:1: `host` is missing, like `smtp.example.org`",
    );
    check(
        "[channels.slack]\nenabled = false\non_ambiguous = \"guess\"\n",
        "h.toml:3: `on_ambiguous` cannot be `guess`; it is one of `reask_and_queue`, `reask_only` and `forward_now`",
    );
    check(
        "[callbacks]\nsecret_envs = [\"OK\", \"not ok\"]\n",
        "h.toml:2: this is not the name of an environment variable, such as `MY_SECRET`; the value itself does not belong here",
    );
    for contact in ["ops@example.com", "mailto:ops", "https://", "http://example.com", ""] {
        check(
            &format!("[push]\ncontact = \"{contact}\"\n"),
            "h.toml:2: `contact` is an address for push services to write to: `mailto:ops@example.com`, or a page with `https://`",
        );
    }
}
