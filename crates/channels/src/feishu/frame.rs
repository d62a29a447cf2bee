//! Frames of the long connection: protobuf, by hand. The message has nine fields and will not change;
//! a generator and its runtime would be a hundred times this file.

use crate::limits::{EVENT_BYTES_MAX, FRAME_HEADERS_MAX};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeishuFrame {
    pub seq_id: u64,
    pub log_id: u64,
    pub service: i32,
    /// 0 for control, 1 for data.
    pub method: i32,
    pub headers: Vec<(String, String)>,
    pub payload_encoding: Option<String>,
    pub payload_type: Option<String>,
    pub payload: Option<Vec<u8>>,
    pub log_id_new: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a frame of the long connection")]
pub struct BadFrame;

impl FeishuFrame {
    /// Keeps the connection alive.
    pub fn ping(service: i32) -> FeishuFrame {
        let headers = vec![("type".into(), "ping".into())];
        FeishuFrame { service, headers, ..FeishuFrame::default() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The same frame back, with how long we took and what we say.
    pub fn ack(&self, took_ms: u64, payload: &[u8]) -> FeishuFrame {
        let mut ack = FeishuFrame { payload: Some(payload.to_vec()), ..self.clone() };
        ack.headers.push(("biz_rt".into(), took_ms.to_string()));
        ack
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // The first four are required, and so are written even when they are nothing.
        number(&mut out, 1, self.seq_id);
        number(&mut out, 2, self.log_id);
        // Negative numbers are sign-extended, as the format says.
        number(&mut out, 3, i64::from(self.service) as u64);
        number(&mut out, 4, i64::from(self.method) as u64);
        for (key, value) in &self.headers {
            let mut header = Vec::new();
            bytes(&mut header, 1, key.as_bytes());
            bytes(&mut header, 2, value.as_bytes());
            bytes(&mut out, 5, &header);
        }
        let texts = [(6, &self.payload_encoding), (7, &self.payload_type)];
        for (field, text) in texts.into_iter().filter_map(|(n, text)| Some((n, text.as_ref()?))) {
            bytes(&mut out, field, text.as_bytes());
        }
        if let Some(payload) = &self.payload {
            bytes(&mut out, 8, payload);
        }
        if let Some(log) = &self.log_id_new {
            bytes(&mut out, 9, log.as_bytes());
        }
        out
    }

    pub fn decode(wire: &[u8]) -> Result<FeishuFrame, BadFrame> {
        if wire.len() > EVENT_BYTES_MAX {
            return Err(BadFrame);
        }
        let mut frame = FeishuFrame::default();
        let mut required = [false; 4];
        let mut wire = Wire(wire);
        while let Some((field, value)) = wire.field()? {
            match (field, value) {
                (1, Value::Number(n)) => frame.seq_id = n,
                (2, Value::Number(n)) => frame.log_id = n,
                // Readers of the format take the low half.
                (3, Value::Number(n)) => frame.service = n as i32,
                (4, Value::Number(n)) => frame.method = n as i32,
                (5, Value::Bytes(inner)) if frame.headers.len() < FRAME_HEADERS_MAX => {
                    frame.headers.push(header(inner)?);
                }
                (6, Value::Bytes(text)) => frame.payload_encoding = Some(self::utf8_text(text)?),
                (7, Value::Bytes(text)) => frame.payload_type = Some(self::utf8_text(text)?),
                (8, Value::Bytes(payload)) => frame.payload = Some(payload.to_vec()),
                (9, Value::Bytes(text)) => frame.log_id_new = Some(self::utf8_text(text)?),
                (1..=9, _) => return Err(BadFrame),
                // A field that they may add one day.
                _ => {}
            }
            if let 1..=4 = field {
                required[field as usize - 1] = true;
            }
        }
        if required == [true; 4] { Ok(frame) } else { Err(BadFrame) }
    }
}

fn header(wire: &[u8]) -> Result<(String, String), BadFrame> {
    let mut wire = Wire(wire);
    let (mut key, mut value) = (None, None);
    while let Some((field, content)) = wire.field()? {
        match (field, content) {
            (1, Value::Bytes(bytes)) => key = Some(utf8_text(bytes)?),
            (2, Value::Bytes(bytes)) => value = Some(utf8_text(bytes)?),
            (1 | 2, _) => return Err(BadFrame),
            _ => {}
        }
    }
    Ok((key.ok_or(BadFrame)?, value.ok_or(BadFrame)?))
}

fn utf8_text(bytes: &[u8]) -> Result<String, BadFrame> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| BadFrame)
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// What is left to read.
struct Wire<'a>(&'a [u8]);

impl<'a> Wire<'a> {
    fn field(&mut self) -> Result<Option<(u64, Value<'a>)>, BadFrame> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| BadFrame)?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(BadFrame),
        };
        match tag >> 3 {
            0 => Err(BadFrame),
            field => Ok(Some((field, value))),
        }
    }

    fn varint(&mut self) -> Result<u64, BadFrame> {
        let mut value = 0_u64;
        for place in 0..10 {
            let (byte, rest) = self.0.split_first().ok_or(BadFrame)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit.
            if place == 9 && bits > 1 {
                return Err(BadFrame);
            }
            value |= bits << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(BadFrame)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], BadFrame> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(BadFrame)?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_ping_has_the_bytes_that_the_format_says() {
        let wire = FeishuFrame::ping(7).encode();
        let header = [&[0x2a, 12, 0x0a, 4][..], b"type", &[0x12, 4], b"ping"].concat();
        assert_eq!(wire, [&[0x08, 0, 0x10, 0, 0x18, 7, 0x20, 0][..], &header].concat());
    }

    #[test]
    fn the_vendors_own_frames_are_read_and_written_to_the_byte() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../vectors/frames.json")).unwrap();
        let bytes = |name: &str| -> Vec<u8> {
            let digits = vectors[name].as_str().unwrap().as_bytes();
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
            digits.chunks(2).map(|pair| byte(pair).unwrap()).collect()
        };
        assert_eq!(FeishuFrame::ping(7).encode(), bytes("ping"));
        let header = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let data = FeishuFrame {
            seq_id: (1 << 63) + 5,
            log_id: 300,
            service: -3,
            method: 1,
            headers: vec![
                header("type", "event"),
                header("message_id", "m-1"),
                header("sum", "1"),
                header("seq", "0"),
                header("trace_id", "t"),
            ],
            payload_encoding: Some("gzip".into()),
            payload_type: Some("json".into()),
            payload: Some("{\"schema\":\"2.0\",\"x\":\"确认\"}".into()),
            log_id_new: Some("log".into()),
        };
        assert_eq!(data.encode(), bytes("data"));
        assert_eq!(FeishuFrame::decode(&bytes("data")), Ok(data));
    }

    #[test]
    fn a_frame_without_its_required_fields_is_none() {
        let whole = FeishuFrame::ping(1).encode();
        assert_eq!(FeishuFrame::decode(&whole), Ok(FeishuFrame::ping(1)));
        assert_eq!(FeishuFrame::decode(&whole[2..]), Err(BadFrame));
        assert_eq!(FeishuFrame::decode(&[]), Err(BadFrame));
        for end in 1..whole.len() {
            assert_eq!(FeishuFrame::decode(&whole[..end]).is_ok(), end == 8, "cut at {end}");
        }
        // A field of tomorrow is skipped, a group is not.
        let more = [&whole[..], &[0x55, 1, 2, 3, 4, 0x5a, 1, 9]].concat();
        assert_eq!(FeishuFrame::decode(&more), Ok(FeishuFrame::ping(1)));
        assert_eq!(FeishuFrame::decode(&[&whole[..], &[0x5b]].concat()), Err(BadFrame));
    }

    #[test]
    fn an_ack_is_the_same_frame_with_our_word() {
        let frame = FeishuFrame {
            seq_id: 9,
            method: 1,
            payload: Some(b"{}".to_vec()),
            ..FeishuFrame::ping(3)
        };
        let ack = frame.ack(12, br#"{"code":200}"#);
        assert_eq!((ack.seq_id, ack.header("biz_rt")), (9, Some("12")));
        assert_eq!(ack.payload.as_deref(), Some(&br#"{"code":200}"#[..]));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            ids in any::<(u64, u64, i32, i32)>(),
            headers in prop::collection::vec(("\\PC{0,9}", "\\PC{0,9}"), 0..4),
            payload in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
            text in prop::option::of("\\PC{0,9}"),
        ) {
            let (seq_id, log_id, service, method) = ids;
            let frame = FeishuFrame {
                seq_id, log_id, service, method, headers, payload,
                payload_encoding: text.clone(), payload_type: None, log_id_new: text,
            };
            prop_assert_eq!(FeishuFrame::decode(&frame.encode()), Ok(frame));
        }

        #[test]
        fn any_bytes_are_judged(wire in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(frame) = FeishuFrame::decode(&wire) {
                prop_assert_eq!(FeishuFrame::decode(&frame.encode()), Ok(frame));
            }
        }
    }
}
