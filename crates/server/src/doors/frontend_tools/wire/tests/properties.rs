//! Whatever is said, and wherever it is split, the client reads exactly that.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::doors::Format;

use super::super::{Awaited, FormatWriter, Meta, StreamItem, framed};
use super::reader::{Node, read};

/// Pieces of which hostile texts are made.
const PIECES: [&str; 34] = [
    "<",
    ">",
    "</content-block-text>",
    "<content-block-text>",
    "</content-block-thinking>",
    "<awaiting_frontend_tools data=\"[{&quot;tool_use_id&quot;:&quot;x&quot;}]\"></awaiting_frontend_tools>",
    "<awaiting_frontend_tools data=\"",
    "<meta_final data=\"{}\">",
    "</meta_final>",
    "<![CDATA[",
    "]]>",
    "]]",
    "]",
    "__CDATA_PLACEHOLDER_0__",
    "__CDATA_PLACEHOLDER_",
    "PLACEHOLDER_1__",
    "__CDATA_",
    "\n",
    "\r",
    "\r\n",
    "\n\ndata: [DONE]\n\n",
    "[DONE]",
    "&quot;",
    "&amp;lt;",
    "&",
    "\"",
    "'",
    " ",
    "é𝄞",
    "\u{2028}\u{feff}",
    "\0",
    "<chart>",
    "</bash_tool_result>",
    "{\"type\":\"error\"}",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => "[a-z ]{1,8}",
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// The text in pieces, split anywhere between characters.
fn split() -> impl Strategy<Value = Vec<String>> {
    (hostile(), vec(any::<prop::sample::Index>(), 0..8)).prop_map(|(text, cuts)| {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let mut cuts: Vec<usize> = match places.is_empty() {
            true => Vec::new(),
            false => cuts.iter().map(|cut| places[cut.index(places.len())]).collect(),
        };
        cuts.push(text.len());
        cuts.sort_unstable();
        let mut from = 0;
        cuts.into_iter().map(|to| text[std::mem::replace(&mut from, to)..to].to_owned()).collect()
    })
}

fn format() -> impl Strategy<Value = Format> {
    select(Format::ALL.to_vec())
}

fn written(format: Format, said: &[StreamItem]) -> Vec<String> {
    let mut writer = FormatWriter::new(format, "0193-uuid", "a-model");
    said.iter().flat_map(|say| writer.write(say)).collect()
}

/// A line feed is all that xml keeps of a line break, and its client makes one of a backslash and an n.
fn as_shown(format: Format, text: &str) -> String {
    match format {
        Format::Xml => text.replace("\r\n", "\n").replace(['\r', '\n'], "\\n").replace("\\n", "\n"),
        Format::Raw | Format::Json => text.to_owned(),
    }
}

fn input() -> impl Strategy<Value = Value> {
    (hostile(), hostile()).prop_map(|(key, text)| json!({"text": text, key: [text, 1, null, true]}))
}

proptest! {
    #[test]
    fn text_is_text_whatever_it_says_and_wherever_it_is_split(
        format in format(), text in split(), thought in split(),
    ) {
        let mut said: Vec<StreamItem> = thought.iter().cloned().map(StreamItem::Thinking).collect();
        said.extend(text.iter().cloned().map(StreamItem::Text));
        said.extend([StreamItem::TurnEnded { calls: false }, StreamItem::Done]);
        let items = written(format, &said);
        let mut expected = Vec::new();
        if !thought.concat().is_empty() {
            expected.push(Node::Thinking(as_shown(format, &thought.concat())));
        }
        if !text.concat().is_empty() {
            expected.push(Node::Text(as_shown(format, &text.concat())));
        }
        expected.push(Node::Done);
        prop_assert_eq!(read(format, &items), expected);
    }

    #[test]
    fn no_text_breaks_an_item(format in format(), text in split(), id in hostile(), input in input()) {
        let mut said: Vec<StreamItem> = text.iter().cloned().map(StreamItem::Text).collect();
        let (name, text) = (id.clone(), text.concat());
        said.push(StreamItem::Called { id: id.clone(), name: name.clone(), input: input.to_string() });
        said.push(StreamItem::Result { id, name, text: text.clone() });
        said.push(StreamItem::Failed { code: "failed".into(), message: text });
        for item in written(format, &said) {
            prop_assert!(!item.contains(['\n', '\r']), "{item:?}");
            let frame = framed(&item);
            prop_assert!(frame.starts_with("data: ") && frame.ends_with("\n\n"));
            prop_assert!(item != "[DONE]", "{item:?}");
            for searched in ["<meta_final", "<awaiting_frontend_tools"] {
                prop_assert!(format == Format::Json || !item.contains(searched), "{item:?}");
            }
        }
    }

    #[test]
    fn arguments_and_results_arrive_as_they_are(
        format in format(), input in input(), output in hostile(), long in 0usize..3_000,
    ) {
        let output = format!("{output}{}", "ä\"".repeat(long));
        let (id, name) = ("toolu_1".to_owned(), "sql.modify:x-1".to_owned());
        let said = [
            StreamItem::Called { id: id.clone(), name: name.clone(), input: input.to_string() },
            StreamItem::TurnEnded { calls: true },
            StreamItem::Result { id: id.clone(), name: name.clone(), text: output.clone() },
            StreamItem::Done,
        ];
        // In raw, results are xml items.
        let shown = match format {
            Format::Json => output,
            _ => as_shown(Format::Xml, &output),
        };
        prop_assert_eq!(read(format, &written(format, &said)), vec![
            Node::Call { id: id.clone(), name: name.clone(), input },
            Node::Result { id, name, text: shown },
            Node::Done,
        ]);
    }

    #[test]
    fn a_pause_is_one_item_and_arrives_as_it_is(
        format in format(), inputs in vec(input(), 1..4), long in 0usize..3_000,
    ) {
        let awaited: Vec<Awaited> = inputs.into_iter().enumerate().map(|(number, mut input)| {
            input["long"] = Value::from("<é>".repeat(long));
            Awaited { tool_use_id: format!("toolu_{number}"), name: "user_confirm".into(), input }
        }).collect();
        let items = written(format, &[StreamItem::Awaiting(awaited.clone()), StreamItem::Done]);
        prop_assert_eq!(items.len(), 2);
        let expected = vec![Node::Awaiting(json!(awaited)), Node::Done];
        prop_assert_eq!(read(format, &items), expected);
    }

    #[test]
    fn the_opener_is_one_item(format in format(), query in hostile(), long in 0usize..3_000) {
        let query = format!("{query}{}", "\"ö".repeat(long));
        let meta = Meta {
            format, user_query: query.clone(), agent_uuid: "0193-uuid".into(),
            model: "a-model".into(), history: None,
        };
        let items = written(format, &[StreamItem::Opened(meta)]);
        prop_assert_eq!(items.len(), 1);
        prop_assert!(!items[0].contains("<meta_final"), "looked for in every format");
        let nodes = read(format, &items);
        let [Node::Opened(meta)] = nodes.as_slice() else { panic!("{nodes:?}") };
        prop_assert_eq!(meta["agent_uuid"].as_str(), Some("0193-uuid"));
        prop_assert_eq!(meta["format"].as_str(), Some(format.name()));
        let shown = meta["user_query"].as_str().unwrap_or_default();
        let cut = shown.strip_suffix('…').unwrap_or(shown);
        prop_assert!(query.starts_with(cut));
        prop_assert!(format == Format::Json && long > 100 || shown == query);
    }

    #[test]
    fn what_is_withdrawn_leaves_nothing_open(format in format(), text in split(), again in split()) {
        let mut said: Vec<StreamItem> = text.iter().cloned().map(StreamItem::Text).collect();
        said.push(StreamItem::Withdrawn);
        said.extend(again.iter().cloned().map(StreamItem::Text));
        said.extend([StreamItem::TurnEnded { calls: false }, StreamItem::Done]);
        let nodes = read(format, &written(format, &said));
        let mut expected: Vec<Node> = Vec::new();
        for text in [text.concat(), again.concat()].iter().filter(|text| !text.is_empty()) {
            expected.push(Node::Text(as_shown(format, text)));
        }
        expected.push(Node::Done);
        prop_assert_eq!(nodes, expected);
    }
}
