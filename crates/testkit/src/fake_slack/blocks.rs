//! Block Kit, as strictly as the platform takes it.

use serde_json::Value;

fn units(value: &Value) -> usize {
    value.as_str().unwrap_or_default().encode_utf16().count()
}

fn text_is_good(text: &Value, most: usize) -> bool {
    matches!(text["type"].as_str(), Some("plain_text" | "mrkdwn"))
        && (1..=most).contains(&units(&text["text"]))
}

/// What is wrong with the blocks of a message.
pub(super) fn problem(blocks: &Value) -> Option<String> {
    let Some(blocks) = blocks.as_array() else {
        return (!blocks.is_null()).then(|| "blocks must be a list".into());
    };
    if blocks.len() > 50 {
        return Some("too many blocks".into());
    }
    blocks.iter().enumerate().find_map(|(index, block)| {
        block_problem(block).map(|why| format!("{why} [json-pointer:/blocks/{index}]"))
    })
}

fn block_problem(block: &Value) -> Option<&'static str> {
    if units(&block["block_id"]) > 255 {
        return Some("block_id is too long");
    }
    let elements = block["elements"].as_array().map_or(&[][..], Vec::as_slice);
    match block["type"].as_str() {
        Some("header") => (!text_is_good(&block["text"], 150)).then_some("bad header"),
        Some("section") => (!text_is_good(&block["text"], 3000)).then_some("bad section"),
        Some("context") => {
            let good = (1..=10).contains(&elements.len())
                && elements.iter().all(|element| text_is_good(element, 3000));
            (!good).then_some("bad context")
        }
        Some("actions") => {
            let good = (1..=25).contains(&elements.len()) && elements.iter().all(element_is_good);
            (!good).then_some("bad actions")
        }
        Some("input") => {
            let hint = block["hint"].is_null() || text_is_good(&block["hint"], 2000);
            let good =
                text_is_good(&block["label"], 2000) && hint && input_is_good(&block["element"]);
            (!good).then_some("bad input")
        }
        _ => Some("unsupported block"),
    }
}

fn element_is_good(element: &Value) -> bool {
    let id = (1..=255).contains(&units(&element["action_id"]));
    match element["type"].as_str() {
        Some("button") => {
            let style = &element["style"];
            id && confirm_is_good(&element["confirm"])
                && text_is_good(&element["text"], 75)
                && units(&element["value"]) <= 2000
                && (style.is_null() || *style == "danger" || *style == "primary")
        }
        Some("static_select") => id && options_are_good(&element["options"]),
        _ => false,
    }
}

/// A dialog that asks once more.
fn confirm_is_good(confirm: &Value) -> bool {
    let style = &confirm["style"];
    confirm.is_null()
        || text_is_good(&confirm["title"], 100)
            && confirm["title"]["type"] == "plain_text"
            && text_is_good(&confirm["text"], 300)
            && text_is_good(&confirm["confirm"], 30)
            && text_is_good(&confirm["deny"], 30)
            && (style.is_null() || *style == "danger" || *style == "primary")
}

fn input_is_good(element: &Value) -> bool {
    let id = (1..=255).contains(&units(&element["action_id"]));
    id && match element["type"].as_str() {
        Some("plain_text_input") => {
            element["max_length"].is_null()
                || element["max_length"].as_u64().is_some_and(|most| (1..=3000).contains(&most))
        }
        Some("number_input") => true,
        Some("static_select" | "multi_static_select") => options_are_good(&element["options"]),
        Some("radio_buttons") => {
            options_are_good(&element["options"])
                && element["options"].as_array().is_some_and(|options| options.len() <= 10)
        }
        _ => false,
    }
}

fn options_are_good(options: &Value) -> bool {
    let good = |option: &Value| {
        text_is_good(&option["text"], 75) && (1..=150).contains(&units(&option["value"]))
    };
    options.as_array().is_some_and(|all| (1..=100).contains(&all.len()) && all.iter().all(good))
}

/// What is wrong with a modal.
pub(super) fn view_problem(view: &Value) -> Option<String> {
    let title = |name: &str| (1..=24).contains(&units(&view[name]["text"]));
    if view["type"] != "modal" || !title("title") || !title("submit") {
        return Some("bad modal".into());
    }
    if units(&view["private_metadata"]) > 3000 {
        return Some("private_metadata is too long".into());
    }
    problem(&view["blocks"])
}
