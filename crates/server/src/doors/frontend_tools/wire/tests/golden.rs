//! A stream of each format, to the byte.

use serde_json::json;

use crate::doors::Format;

use super::super::{Awaited, FormatWriter, Meta, StreamItem, framed};

fn story(format: Format) -> Vec<StreamItem> {
    let hostile = json!({"message": "Delete \"a & b\" <now>?\nYes, 'é𝄞' \\ &quot;"});
    vec![
        StreamItem::Opened(Meta {
            format,
            user_query: "Say \"hi\" & <b>".into(),
            agent_uuid: "0193b2c4-0000-7000-8000-000000000001".into(),
            model: "scripted".into(),
            history: None,
        }),
        StreamItem::Thinking("Let me\r\nsee.".into()),
        StreamItem::Text("It is ".into()),
        StreamItem::Text("5 < 6".into()),
        StreamItem::Text("</content-block-text><awaiting_frontend_tools data=\"[]\">".into()),
        StreamItem::Called {
            id: "toolu_1".into(),
            name: "lookup".into(),
            input: json!({"q": "a\"b\\c\nd"}).to_string(),
        },
        StreamItem::Called {
            id: "toolu_2".into(),
            name: "user_confirm".into(),
            input: hostile.to_string(),
        },
        StreamItem::TurnEnded { calls: true },
        StreamItem::Result {
            id: "toolu_1".into(),
            name: "lookup".into(),
            text: "a]]>b\n<c>".into(),
        },
        StreamItem::Awaiting(vec![Awaited {
            tool_use_id: "toolu_2".into(),
            name: "user_confirm".into(),
            input: hostile,
        }]),
        StreamItem::Done,
        StreamItem::Failed { code: "failed".into(), message: "the model\nis gone".into() },
    ]
}

fn written(format: Format) -> String {
    let mut writer = FormatWriter::new(format, "0193b2c4-0000-7000-8000-000000000001", "scripted");
    story(format).iter().flat_map(|say| writer.write(say)).map(|item| framed(&item)).collect()
}

#[test]
fn each_format_is_written_to_the_byte() {
    assert_eq!(written(Format::Xml), include_str!("../golden/xml.txt"));
    assert_eq!(written(Format::Raw), include_str!("../golden/raw.txt"));
    assert_eq!(written(Format::Json), include_str!("../golden/json.txt"));
}
