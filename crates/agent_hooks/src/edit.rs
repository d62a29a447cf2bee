//! What an edit would make of files: worked out from the file on disk and the agent's own arguments.

use std::path::PathBuf;

use serde_json::Value;

use crate::files::AgentFiles;
use crate::proposal::HookProposal;

pub(crate) struct EditedFile {
    pub(crate) path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

impl EditedFile {
    /// Path, old text and new text, if both are known.
    pub(crate) fn change(&self) -> Option<(String, &str, &str)> {
        let after = self.after.as_deref()?;
        Some((self.path.display().to_string(), self.before.as_deref().unwrap_or_default(), after))
    }
}

/// Files that the call would write. `after` is missing where the edit does not fit the file.
pub(crate) fn edited_files(
    proposal: &HookProposal,
    files: &dyn AgentFiles,
    input: &Value,
) -> Vec<EditedFile> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    if proposal.tool == "apply_patch" {
        return patched(patch_text(input).unwrap_or_default())
            .into_iter()
            .map(|path| EditedFile { path, before: None, after: None })
            .collect();
    }
    let Some(path) = text("file_path").map(PathBuf::from) else { return Vec::new() };
    let before = files.read_text(&proposal.directory.join(&path));
    let after = match proposal.tool.as_str() {
        "Write" | "write_file" => text("content").map(str::to_owned),
        "Edit" | "replace" => before.clone().and_then(|before| replaced(before, input)),
        "MultiEdit" => {
            let edits = input.get("edits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let start = before.clone().or_else(|| Some(String::new()));
            edits.iter().fold(start, |file, edit| file.and_then(|file| replaced(file, edit)))
        }
        _ => return Vec::new(),
    };
    vec![EditedFile { path, before, after }]
}

/// As the agents do it: the old text must be there, and once unless all are meant.
fn replaced(file: String, edit: &Value) -> Option<String> {
    let old = edit.get("old_string").and_then(Value::as_str)?;
    let new = edit.get("new_string").and_then(Value::as_str)?;
    if old.is_empty() {
        return file.is_empty().then(|| new.to_owned());
    }
    let all = edit.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    match file.matches(old).count() {
        0 => None,
        _ if all => Some(file.replace(old, new)),
        1 => Some(file.replacen(old, new, 1)),
        _ => None,
    }
}

/// The files that a patch names. Its text is the diff that people see.
fn patched(patch: &str) -> Vec<PathBuf> {
    let named = header_lines(patch)
        .filter_map(|line| FILE_HEADS.iter().find_map(|head| line.strip_prefix(head)));
    named.map(|path| PathBuf::from(path.trim())).collect()
}

const FILE_HEADS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
const OTHER_HEADS: [&str; 3] = ["*** Begin Patch", "*** End Patch", "*** End of File"];

/// Agents trim headers. A line of context that looks like one is taken for one: that can only add a file.
fn header_lines(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().map(str::trim).filter(|line| line.starts_with("***"))
}

/// A header that is not understood may name any file.
pub(crate) fn has_unread_header(patch: &str) -> bool {
    let is_known = |line: &str| {
        FILE_HEADS.iter().any(|head| line.starts_with(head)) || OTHER_HEADS.contains(&line)
    };
    header_lines(patch).any(|line| !is_known(line))
}

/// The text of a patch, under the names that agents have for it.
pub(crate) fn patch_text(input: &Value) -> Option<&str> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    text("command").or_else(|| text("patch")).or_else(|| text("input"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn edits_are_made_as_agents_make_them() {
        let edit = |old: &str, new: &str, all: bool| json!({"old_string": old, "new_string": new, "replace_all": all});
        assert_eq!(replaced("a b a".into(), &edit("b", "c", false)), Some("a c a".into()));
        assert_eq!(replaced("a b a".into(), &edit("a", "c", true)), Some("c b c".into()));
        assert_eq!(replaced("a b a".into(), &edit("a", "c", false)), None, "which one?");
        assert_eq!(replaced("a".into(), &edit("x", "c", false)), None);
        assert_eq!(replaced("".into(), &edit("", "new", false)), Some("new".into()));
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Move to: b.rs\n*** Add File: c\n+z\n*** End Patch";
        assert_eq!(patched(patch), ["a.rs", "b.rs", "c"].map(PathBuf::from));
        assert!(!has_unread_header(patch));
        assert_eq!(patched("  *** Add File: /outside\r\n+x"), [PathBuf::from("/outside")]);
        let many: String = (0..300).map(|n| format!("*** Add File: f{n}\n+x\n")).collect();
        assert_eq!(patched(&many).len(), 300);
        for odd in
            ["*** Create File: /x", "***Add File: /x", "*** add file: /x", " *** Copy to: /x"]
        {
            assert!(has_unread_header(odd), "{odd}");
        }
    }
}
