//! Which files hold credentials, told by their names.

/// Folders in which everything is one.
const FOLDERS: [&str; 10] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".password-store",
    "gcloud",
    "gh",
    "secrets",
];
const FILES: [&str; 20] = [
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".claude.json",
    "auth.json",
    "credentials",
    "credentials.json",
    "credentials.toml",
    ".credentials.json",
    "tokens.json",
    "shadow",
    "gshadow",
    "environ",
];
const ENDS: [&str; 14] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".gpg",
    ".asc",
    "_history",
    ".env",
    ".tfstate",
    ".tfvars",
];
const STARTS: [&str; 7] =
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "service-account", "secret.", "secrets."];
/// Made to be read.
const SAMPLES: [&str; 4] = [".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Names alone are looked at, in any letter case. A file that is none of these may hold a secret all the same.
pub fn is_secret_path(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    // `--file=.env`, `@.env` and `HEAD:.env` name files, too.
    path.split(['/', '=', ':', '@', ',']).any(is_secret_name)
}

fn is_secret_name(name: &str) -> bool {
    if SAMPLES.contains(&name) || name.ends_with(".pub") {
        return false;
    }
    FOLDERS.contains(&name)
        || FILES.contains(&name)
        || name == ".env"
        || name == ".envrc"
        || name.starts_with(".env.")
        || ENDS.iter().any(|end| name.ends_with(end))
        || STARTS.iter().any(|start| name.starts_with(start))
}

/// A pattern that can match no secret file: no name that begins with a dot is left open, and the last part
/// names its ending.
pub(super) fn is_harmless_glob(pattern: &str) -> bool {
    let mut last = "";
    for part in pattern.split('/') {
        let is_open = part.contains(['*', '?', '[']);
        if is_open && (part.starts_with('.') || part.contains('[')) {
            return false;
        }
        last = part;
    }
    if !last.contains(['*', '?', '[']) {
        return !is_secret_path(pattern);
    }
    match last.rsplit_once('.') {
        Some((_, ending)) => {
            !ending.is_empty()
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && !is_secret_path(pattern)
                && !ENDS.contains(&format!(".{}", ending.to_ascii_lowercase()).as_str())
                && !matches!(ending, "json" | "toml" | "yml" | "yaml" | "env")
        }
        None => false,
    }
}
