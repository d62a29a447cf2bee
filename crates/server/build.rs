//! Puts the built web page into the program: one binary is the whole of Holdpoint.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../web/dist");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    if root.is_dir() {
        collect(&root, &root, &mut files)?;
    }
    files.sort();
    let mut table = String::from("pub(super) static FILES: &[File] = &[\n");
    for (name, path) in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        let _ = writeln!(
            table,
            "    File {{ path: {name:?}, bytes: include_bytes!({:?}) }},",
            path.display().to_string()
        );
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("page.rs"), table)
}

/// Every file with the path under which it is served.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path().canonicalize()?;
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(inside) = path.strip_prefix(root.canonicalize()?) {
            let parts: Vec<_> =
                inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            files.push((format!("/{}", parts.join("/")), path));
        }
    }
    Ok(())
}
