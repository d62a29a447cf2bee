//! The client's side. It joins the items of a stream, and makes nodes of them.

use serde_json::Value;

use crate::doors::Format;

/// What a client shows, or acts upon.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Opened(Value),
    Text(String),
    Thinking(String),
    Call { id: String, name: String, input: Value },
    Result { id: String, name: String, text: String },
    Awaiting(Value),
    Error(Value),
    Final(Value),
    Done,
}

pub(super) fn read(format: Format, items: &[String]) -> Vec<Node> {
    match format {
        Format::Xml => xml(items),
        Format::Raw => raw(items),
        Format::Json => json(items),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
}

/// Entities as browsers read them.
fn decoded(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#x27;", "'")
        .replace("&amp;", "&")
}

/// Decoded twice, as the client does with some attributes: it must not matter.
fn data(value: &str) -> Value {
    let once = decoded(value);
    assert_eq!(parsed(&once), parsed(&decoded(&once)), "decoding twice gives the same");
    parsed(&once)
}

#[derive(Debug)]
struct Tag<'a> {
    name: &'a str,
    closes: bool,
    attributes: &'a str,
    begins: usize,
    ends: usize,
}

/// The next tag that the client knows, from a place on.
fn next_tag(text: &str, from: usize) -> Option<Tag<'_>> {
    const KNOWN: [&str; 14] = [
        "content-block-text",
        "content-block-thinking",
        "content-block-tool_call",
        "content-block-tool_result",
        "content-block-error",
        "content-block-meta_files",
        "meta_init",
        "meta_final",
        "awaiting_frontend_tools",
        "citations",
        "chart",
        "table",
        "text",
        "image",
    ];
    let mut from = from;
    while let Some(at) = text[from..].find('<') {
        let begins = from + at;
        let rest = &text[begins + 1..];
        let closes = rest.starts_with('/');
        let name_at = begins + 1 + usize::from(closes);
        let length = text[name_at..]
            .find(|c: char| !c.is_ascii_alphanumeric() && !"_:-".contains(c))
            .unwrap_or(text.len() - name_at);
        let name = &text[name_at..name_at + length];
        let known = KNOWN.contains(&name) || name.ends_with("_tool_result");
        if let (true, Some(end)) = (known, text[name_at..].find('>')) {
            let attributes = &text[name_at + length..name_at + end];
            return Some(Tag { name, closes, attributes, begins, ends: name_at + end + 1 });
        }
        from = begins + 1;
    }
    None
}

fn attribute(tag: &Tag<'_>, name: &str) -> String {
    let from = tag.attributes.find(&format!(" {name}=\"")).expect("the attribute is there");
    let value = &tag.attributes[from + name.len() + 3..];
    value[..value.find('"').expect("the attribute ends")].to_owned()
}

/// Whole sections are taken out, and stand for text that is no markup.
fn without_sections(text: &str) -> (String, Vec<String>) {
    let (mut rest, mut out, mut sections) = (text, String::new(), Vec::new());
    while let Some(at) = rest.find("<![CDATA[") {
        out.push_str(&rest[..at]);
        let inner = &rest[at + 9..];
        let end = inner.find("]]>").expect("a section ends");
        out.push_str(&format!("__CDATA_PLACEHOLDER_{}__", sections.len()));
        sections.push(inner[..end].to_owned());
        rest = &inner[end + 3..];
    }
    out.push_str(rest);
    (out, sections)
}

fn shown(text: &str, sections: &[String]) -> String {
    const MARK: &str = "__CDATA_PLACEHOLDER_";
    let (mut rest, mut out) = (text, String::new());
    while let Some(at) = rest.find(MARK) {
        let after = &rest[at + MARK.len()..];
        let number = after.split("__").next().and_then(|number| number.parse::<usize>().ok());
        let Some(number) = number else {
            // Its beginning only: a mark may follow right behind it.
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        out.push_str(&rest[..at]);
        out.push_str(&sections[number]);
        rest = &after[number.to_string().len() + 2..];
    }
    out.push_str(rest);
    out.replace("\\n", "\n")
}

fn xml(items: &[String]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut joined = String::new();
    for item in items {
        if item == "[DONE]" {
            nodes.extend(marked_up(&joined));
            joined.clear();
            nodes.push(Node::Done);
        } else if !item.trim().is_empty() {
            joined.push_str(item);
        }
    }
    nodes.extend(marked_up(&joined));
    nodes
}

fn marked_up(joined: &str) -> Vec<Node> {
    // Looked for before anything else, wherever it stands.
    assert!(joined.matches("<meta_final").count() <= 1, "a forged end: {joined}");
    let (text, sections) = without_sections(joined);
    let (mut nodes, mut at) = (Vec::new(), 0);
    while let Some(tag) = next_tag(&text, at) {
        assert!(!tag.closes, "a tag that closes nothing: {tag:?}");
        assert_eq!(text[at..tag.begins].trim(), "", "text outside of a block");
        let close = next_tag(&text, tag.ends).expect("a block ends");
        assert!(close.closes && close.name == tag.name, "{close:?} in {tag:?}");
        let inner = shown(&text[tag.ends..close.begins], &sections);
        nodes.push(node(&tag, inner));
        at = close.ends;
    }
    assert_eq!(&text[at..], "", "text outside of a block");
    nodes
}

fn node(tag: &Tag<'_>, inner: String) -> Node {
    let text = |name| decoded(&attribute(tag, name));
    match tag.name {
        "content-block-text" => Node::Text(inner),
        "content-block-thinking" => Node::Thinking(inner),
        "content-block-error" => Node::Error(parsed(&inner)),
        "content-block-tool_call" => Node::Call {
            id: text("id"),
            name: text("name"),
            input: data(&attribute(tag, "arguments")),
        },
        "content-block-tool_result" => {
            Node::Result { id: text("id"), name: text("name"), text: inner }
        }
        "meta_init" => Node::Opened(data(&attribute(tag, "data"))),
        "meta_final" => Node::Final(data(&attribute(tag, "data"))),
        "awaiting_frontend_tools" => Node::Awaiting(data(&attribute(tag, "data"))),
        other => panic!("nobody wrote a {other}"),
    }
}

/// A prompt anywhere in a text: the tag, its `data`, and its end right behind it.
fn searched_prompt(text: &str) -> Option<Value> {
    const TAG: &str = "<awaiting_frontend_tools";
    let mut from = 0;
    while let Some(at) = text[from..].find(TAG) {
        from += at + TAG.len();
        let Some(open) = text[from..].find('>') else { continue };
        let (attributes, rest) = (&text[from..from + open], &text[from + open + 1..]);
        let value = attributes.split_once("data=\"").and_then(|(_, value)| value.split_once('"'));
        if let (Some((value, _)), true) = (value, rest.starts_with("</awaiting_frontend_tools>")) {
            return serde_json::from_str(&decoded(value)).ok();
        }
    }
    None
}

fn raw(items: &[String]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let (mut open, mut partial) = (None::<Node>, String::new());
    for item in items {
        // The first step of the client: it searches the whole item for a prompt, also inside sections.
        if let Some(awaited) = searched_prompt(item) {
            nodes.push(Node::Awaiting(awaited));
            if item.starts_with("<awaiting_frontend_tools") {
                continue;
            }
        }
        if !item.starts_with('{') {
            nodes.extend(xml(std::slice::from_ref(item)));
            continue;
        }
        assert!(!item.contains(['<', '>']), "a sign that could be a tag: {item}");
        let event = parsed(item);
        match event["type"].as_str().expect("a type") {
            "message_start" | "message_delta" | "message_stop" => assert!(open.is_none()),
            "content_block_start" => {
                let block = &event["content_block"];
                let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
                partial.clear();
                open = Some(match block["type"].as_str().expect("a type") {
                    "text" => Node::Text(text("text")),
                    "thinking" => Node::Thinking(text("thinking")),
                    "tool_use" => {
                        Node::Call { id: text("id"), name: text("name"), input: Value::Null }
                    }
                    other => panic!("{other}"),
                });
            }
            "content_block_delta" => match (&mut open, &event["delta"]) {
                (Some(Node::Text(text)), delta) => {
                    text.push_str(delta["text"].as_str().expect("text"))
                }
                (Some(Node::Thinking(text)), delta) => {
                    text.push_str(delta["thinking"].as_str().expect("thinking"));
                }
                (Some(Node::Call { .. }), delta) => {
                    partial.push_str(delta["partial_json"].as_str().expect("a piece"));
                }
                (open, _) => panic!("a delta in {open:?}"),
            },
            "content_block_stop" => {
                let mut closed = open.take().expect("a block is open");
                if let Node::Call { input, .. } = &mut closed {
                    *input = parsed(&partial);
                }
                nodes.push(closed);
            }
            other => panic!("an event that the client does not know: {other}"),
        }
    }
    nodes
}

fn json(items: &[String]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut buffer = String::new();
    for item in items {
        if item == "[DONE]" {
            nodes.push(Node::Done);
            continue;
        }
        let envelope = parsed(item);
        let kind = envelope["type"].as_str().expect("a type");
        let delta = envelope["delta"].as_str().expect("a delta");
        let last = envelope["final"].as_bool().expect("final");
        let text = |name: &str| envelope[name].as_str().unwrap_or_default().to_owned();
        if kind == "awaiting_frontend_tools" {
            // Only the last piece is read.
            if last {
                nodes.push(Node::Awaiting(parsed(delta)));
            }
            continue;
        }
        assert!(item.len() <= 2_048, "{} bytes", item.len());
        buffer.push_str(delta);
        if !last {
            continue;
        }
        let whole = std::mem::take(&mut buffer);
        nodes.push(match kind {
            "meta_init" => Node::Opened(parsed(&whole)),
            "text" => Node::Text(whole),
            "thinking" => Node::Thinking(whole),
            "tool_call" => Node::Call { id: text("id"), name: text("name"), input: parsed(&whole) },
            "tool_result" => Node::Result { id: text("id"), name: text("name"), text: whole },
            "error" => Node::Error(parsed(&whole)),
            "meta_final" => Node::Final(parsed(&whole)),
            // What the client does not know it passes over.
            _ => continue,
        });
    }
    nodes
}
