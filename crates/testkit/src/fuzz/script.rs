//! Files of the scripted model.

use models::scripted::ScriptedModel;

use super::text;

pub(super) fn run(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let read = || ScriptedModel::parse(text).map(drop).map_err(|error| error.to_string());
    let told = read();
    assert_eq!(read(), told, "taken or refused, and every time the same");
    if let Err(told) = told {
        assert!(told.len() <= 4_000 + 16 * bytes.len());
    }
}
