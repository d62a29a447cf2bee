//! Codex' settings: a marked block in a TOML file of which nothing else is touched.

const BEGINS: &str = "# >>> holdpoint hook: `holdpoint hook uninstall codex` takes this out";
const ENDS: &str = "# <<< holdpoint hook";
const LINE: &str = "hooks = true # holdpoint hook";

/// `timeout_s` is Codex' own time-out for the hook.
pub(super) fn with_hook(text: &str, command: &str, timeout_s: u64) -> anyhow::Result<String> {
    let mut text = without_hook(text)?;
    let table: toml::Table = toml::from_str(&text)?;
    let mut feature = "";
    match table.get("features") {
        None => feature = "[features]\nhooks = true\n\n",
        Some(features) => match features.get("hooks").and_then(toml::Value::as_bool) {
            Some(true) => {}
            Some(false) => {
                anyhow::bail!("`hooks` is switched off under `[features]`; switch it on first")
            }
            None => {
                let line = text.lines().position(|line| line.trim() == "[features]").ok_or_else(|| {
                    anyhow::anyhow!("add `hooks = true` to `features` by hand first; it is not written as a section")
                })?;
                let below: usize = text.split_inclusive('\n').take(line + 1).map(str::len).sum();
                let ended = if text[..below].ends_with('\n') { "" } else { "\n" };
                text.insert_str(below, &format!("{ended}{LINE}\n"));
            }
        },
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let command = toml::Value::from(command);
    text.push_str(&format!(
        "{BEGINS}\n{feature}[[hooks.PreToolUse]]\nmatcher = \".*\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n\
         command = {command}\ntimeout = {timeout_s}\n{ENDS}\n"
    ));
    toml::from_str::<toml::Table>(&text)?;
    Ok(text)
}

pub(super) fn without_hook(text: &str) -> anyhow::Result<String> {
    toml::from_str::<toml::Table>(text)?;
    if !has_hook(text) {
        return Ok(text.to_owned());
    }
    let (mut kept, mut inside) = (String::new(), false);
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            BEGINS => inside = true,
            ENDS if inside => inside = false,
            LINE => {}
            _ if inside => {}
            _ => kept.push_str(line),
        }
    }
    anyhow::ensure!(!inside, "the block of the hook has no end; take it out by hand");
    toml::from_str::<toml::Table>(&kept)?;
    Ok(kept)
}

pub(super) fn has_hook(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == BEGINS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_comes_and_goes_and_nothing_else_changes() {
        for before in [
            "",
            "model = \"x\" # mine\n",
            "[features]\nother = true\n\n[profiles.a]\nmodel = \"y\"\n",
            "[features]\r\nother = true\r\n\r\n# mine\r\n",
            "[features]\nhooks = true\n",
            "[[hooks.PreToolUse]]\nmatcher = \"a\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"lint\"\n",
        ] {
            let with = with_hook(before, "'/a b/holdpoint' hook codex || exit 2", 600).unwrap();
            let table: toml::Table = toml::from_str(&with).unwrap();
            assert_eq!(table["features"]["hooks"].as_bool(), Some(true), "{with}");
            let hooks = table["hooks"]["PreToolUse"].as_array().unwrap();
            let ours = &hooks.last().unwrap()["hooks"][0];
            assert_eq!(ours["command"].as_str(), Some("'/a b/holdpoint' hook codex || exit 2"));
            assert_eq!(
                with_hook(&with, "'/a b/holdpoint' hook codex || exit 2", 600).unwrap(),
                with
            );
            assert_eq!(without_hook(&with).unwrap(), before);
        }
        for bad in
            ["a = ", "features = 1\n", "[features]\nhooks = false\n", "features = { a = true }\n"]
        {
            assert!(with_hook(bad, "x", 600).is_err(), "{bad}");
        }
    }
}
