//! What was filled in, from the state of a modal.

use ports::channel::{ButtonAction, Form, Pointer};
use serde_json::{Map, Value};

/// `None` if something in it is none of this form's.
pub(super) fn form(state: &Value, pointer: &Pointer) -> Option<Form> {
    let mut form = Form::default();
    let Some(blocks) = state["values"].as_object() else { return Some(form) };
    for (name, inputs) in blocks {
        for input in inputs.as_object().into_iter().flat_map(Map::values) {
            if name == "choices" && input["type"] == "multi_static_select" {
                form.options = options(&input["selected_options"], pointer)?;
            } else if let Some(value) = input_value(input)? {
                form.fields.insert(name.clone(), value);
            }
        }
    }
    Some(form)
}

/// What was left empty is not there.
fn input_value(input: &Value) -> Option<Option<Value>> {
    let typed = |text: &Value| text.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let picked = typed(&input["selected_option"]["value"]);
    Some(match input["type"].as_str()? {
        "plain_text_input" => typed(&input["value"]).map(Value::from),
        // Slack takes only digits, a sign and a point; what it lets through is judged by the schema.
        "number_input" => typed(&input["value"])
            .map(|text| serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text))),
        // Only a yes or no is drawn so.
        "radio_buttons" => picked.map(|picked| (picked == "true").into()),
        "static_select" => picked.map(Value::from),
        _ => return None,
    })
}

fn options(selected: &Value, pointer: &Pointer) -> Option<Vec<u8>> {
    let number = |option: &Value| {
        let of: Pointer = option["value"].as_str()?.parse().ok()?;
        match of.said {
            ButtonAction::Option(number) if of.key == pointer.key && of.nonce == pointer.nonce => {
                Some(number)
            }
            _ => None,
        }
    };
    selected.as_array().map_or(Some(Vec::new()), |options| options.iter().map(number).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(values: Value) -> Option<Form> {
        form(&json!({"values": values}), &"h1:7Q2:f:k3x9ab".parse().unwrap())
    }

    #[test]
    fn every_input_becomes_a_value() {
        let filled = read(json!({
            "region": {"region": {"type": "plain_text_input", "value": "eu"}},
            "count": {"count": {"type": "number_input", "value": "3"}},
            "rate": {"rate": {"type": "number_input", "value": "0.5"}},
            "odd": {"odd": {"type": "number_input", "value": "-."}},
            "dry": {"dry": {"type": "radio_buttons", "selected_option": {"value": "false"}}},
            "tier": {"tier": {"type": "static_select", "selected_option": {"value": "true"}}},
            "empty": {"empty": {"type": "plain_text_input", "value": null}},
        }));
        let fields = json!({
            "region": "eu", "count": 3, "rate": 0.5, "odd": "-.", "dry": false, "tier": "true",
        });
        assert_eq!(Value::Object(filled.unwrap().fields), fields);
    }

    #[test]
    fn options_are_those_of_this_form() {
        let pick = |values: &[&str]| {
            let selected: Vec<Value> = values.iter().map(|value| json!({"value": value})).collect();
            let input = json!({"type": "multi_static_select", "selected_options": selected});
            read(json!({"choices": {"choices": input}})).map(|form| form.options)
        };
        assert_eq!(pick(&["h1:7Q2:1:k3x9ab", "h1:7Q2:8:k3x9ab"]), Some(vec![1, 8]));
        assert_eq!(pick(&[]), Some(Vec::new()));
        for other in ["h1:7Q3:1:k3x9ab", "h1:7Q2:1:zzzzzz", "h1:7Q2:a:k3x9ab", "1"] {
            assert_eq!(pick(&[other]), None, "{other}");
        }
        assert_eq!(read(json!({"x": {"x": {"type": "file_input"}}})), None);
        assert_eq!(form(&Value::Null, &"h1:7Q2:f:k3x9ab".parse().unwrap()), Some(Form::default()));
    }
}
