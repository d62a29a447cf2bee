//! Who somebody is. The platform has three names for everybody: one for each app (`ou_…`), one for all apps
//! of a developer (`on_…`), and one that their own organisation gave them.

use ports::channel::Operator;
use serde_json::Value;

const OPEN: &str = "ou_";
const UNION: &str = "on_";

/// `None` for somebody whom the platform does not name, and for people of other organisations where
/// `only` one is heard. `theirs` is the organisation that they are of: where the platform does not say
/// it, it is none that we know.
pub(super) fn operator(ids: &Value, theirs: &Value, only: Option<&str>) -> Option<Operator> {
    let ours = only.is_some_and(|only| theirs.as_str() == Some(only));
    if only.is_some() && !ours {
        return None;
    }
    let id = |key: &str| ids[key].as_str().filter(|id| !id.is_empty());
    // An organisation calls its people as it likes, and an app may be in several: what they say counts
    // only where we were told whose people are ours, and not where it looks like one of the other names.
    let user = id("user_id").filter(|id| ours && id_type(id) == "user_id");
    let union = id("union_id").filter(|id| id_type(id) == "union_id");
    let identity = id("open_id").or(user)?;
    let also = [user, union].into_iter().flatten().filter(|name| *name != identity);
    let also = also.map(str::to_owned).collect();
    Some(Operator { also, ..Operator::named(identity) })
}

/// Which of the three a name is, as the API calls it.
pub(super) fn id_type(identity: &str) -> &'static str {
    match identity {
        id if id.starts_with(OPEN) => "open_id",
        id if id.starts_with(UNION) => "union_id",
        _ => "user_id",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(ids: Value, theirs: Value, only: Option<&str>) -> Option<String> {
        let operator = operator(&ids, &theirs, only)?;
        Some(operator.identities().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn people_have_three_names() {
        let ours = |ids: Value| named(ids, json!("t1"), Some("t1"));
        let all = json!({"open_id": "ou_1", "union_id": "on_1", "user_id": "ana"});
        assert_eq!(ours(all).as_deref(), Some("ou_1 ana on_1"));
        let unnamed = json!({"user_id": "ana", "union_id": "on_1"});
        assert_eq!(ours(unnamed).as_deref(), Some("ana on_1"));
        let empty = json!({"open_id": "", "user_id": "ana"});
        assert_eq!(ours(empty).as_deref(), Some("ana"));
    }

    #[test]
    fn i31_whom_the_platform_does_not_name_is_nobody() {
        let nobody = [
            json!({}),
            json!(null),
            json!({"open_id": ""}),
            json!({"open_id": 7}),
            // All apps of a developer share this name; the contract wants one of the other two.
            json!({"union_id": "on_1"}),
        ];
        for ids in nobody {
            for only in [None, Some("t1")] {
                assert_eq!(named(ids.clone(), json!("t1"), only), None, "{ids}");
            }
        }
    }

    #[test]
    fn i31_another_organisation_cannot_name_our_people() {
        let foreign = || json!({"open_id": "ou_9", "union_id": "on_9", "user_id": "ana"});
        assert_eq!(named(foreign(), json!("t2"), Some("t1")), None, "only ours are heard");
        assert_eq!(named(json!({"user_id": "ana"}), json!("t2"), Some("t1")), None);
        let disguised = json!({"open_id": "ou_9", "user_id": "ou_ana", "union_id": "ana"});
        assert_eq!(named(disguised, json!("t1"), Some("t1")).as_deref(), Some("ou_9"));
    }

    #[test]
    fn i31_whose_people_are_ours_is_never_guessed() {
        let anybody = || json!({"open_id": "ou_9", "union_id": "on_9", "user_id": "ana"});
        // The settings do not say which organisation is ours: an app may be in several.
        assert_eq!(named(anybody(), json!("t1"), None).as_deref(), Some("ou_9 on_9"));
        assert_eq!(named(json!({"user_id": "ana"}), json!("t1"), None), None);
        for unsaid in [json!(null), json!(""), json!(7)] {
            assert_eq!(named(anybody(), unsaid.clone(), Some("t1")), None, "{unsaid}");
            assert_eq!(named(anybody(), unsaid, None).as_deref(), Some("ou_9 on_9"));
        }
    }
}
