//! Forms with files (RFC 7578), whole in memory: a body has a bound, and so has the number of parts.
//! Pure: bytes in, parts out.

use super::limits::PARTS_MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormPart {
    pub(super) name: String,
    /// Set for files.
    pub(super) filename: Option<String>,
    pub(super) content: Vec<u8>,
}

/// Why a body is no form, in words for its sender.
pub(super) type NoForm = &'static str;

pub(super) fn parts(content_type: &str, body: &[u8]) -> Result<Vec<FormPart>, NoForm> {
    let boundary = boundary(content_type)?;
    let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
    // The first delimiter may stand at the very beginning.
    let body = [b"\r\n", body].concat();
    let mut rest =
        after(&body, &delimiter).ok_or("no part begins with the boundary of the header")?;
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        if parts.len() == PARTS_MAX {
            return Err("the form has too many parts");
        }
        let rest_of_line =
            after(rest, b"\r\n").ok_or("a boundary is not followed by a line break")?;
        if rest.len() - rest_of_line.len()
            > 2 + rest.iter().take_while(|b| b" \t".contains(b)).count()
        {
            return Err("a boundary is followed by something else");
        }
        let end = find(rest_of_line, &delimiter).ok_or("the last part does not end")?;
        parts.push(part(&rest_of_line[..end])?);
        rest = &rest_of_line[end + delimiter.len()..];
    }
    Ok(parts)
}

fn boundary(content_type: &str) -> Result<String, NoForm> {
    let mut pieces = content_type.split(';');
    let kind = pieces.next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("multipart/form-data") {
        return Err("send a form as `multipart/form-data`");
    }
    let boundary = pieces.filter_map(|piece| piece.split_once('=')).find_map(|(name, value)| {
        name.trim()
            .eq_ignore_ascii_case("boundary")
            .then(|| value.trim().trim_matches('"').to_owned())
    });
    match boundary {
        Some(boundary) if (1..=70).contains(&boundary.len()) => Ok(boundary),
        _ => Err("the header Content-Type names no boundary"),
    }
}

fn part(bytes: &[u8]) -> Result<FormPart, NoForm> {
    let (headers, content) = match bytes.strip_prefix(b"\r\n") {
        Some(content) => (&b""[..], content),
        None => {
            let end =
                find(bytes, b"\r\n\r\n").ok_or("a part has no empty line after its headers")?;
            (&bytes[..end], &bytes[end + 4..])
        }
    };
    let headers = std::str::from_utf8(headers).map_err(|_| "a part's headers are not UTF-8")?;
    let disposition = headers
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"))
        .map(|(_, value)| value)
        .ok_or("a part has no Content-Disposition")?;
    let name = parameter(disposition, "name").ok_or("a part has no name")?;
    Ok(FormPart { name, filename: parameter(disposition, "filename"), content: content.to_vec() })
}

/// `name="value"`, with quotes and backslashes as browsers escape them.
fn parameter(disposition: &str, wanted: &str) -> Option<String> {
    let mut rest = disposition.split_once(';')?.1;
    loop {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let mut text = String::new();
        let used = match value.strip_prefix('"') {
            None => {
                let end = value.find(';').unwrap_or(value.len());
                text.push_str(value[..end].trim());
                end
            }
            Some(quoted) => {
                let mut chars = quoted.char_indices();
                let mut end = None;
                while let Some((at, c)) = chars.next() {
                    match c {
                        '"' => {
                            end = Some(at + 2);
                            break;
                        }
                        '\\' => text.push(chars.next()?.1),
                        c => text.push(c),
                    }
                }
                end?
            }
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(text);
        }
        rest = value[used..].split_once(';')?.1;
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn after<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    find(bytes, wanted).map(|at| &bytes[at + wanted.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"XyZ\"";

    fn names(body: &str) -> Result<Vec<(String, Option<String>, String)>, NoForm> {
        let told = |part: FormPart| {
            (part.name, part.filename, String::from_utf8_lossy(&part.content).into_owned())
        };
        Ok(parts(TYPE, body.as_bytes())?.into_iter().map(told).collect())
    }

    #[test]
    fn a_form_is_read_as_browsers_write_it() {
        let body = "--XyZ\r\nContent-Disposition: form-data; name=\"user_prompt\"\r\n\r\nhi\r\n--no\r\n--XyZ\r\n\
            content-disposition: form-data; name=\"files\"; filename=\"a \\\"b\\\".txt\"\r\n\
            Content-Type: text/plain\r\n\r\nline 1\r\nline 2\r\n\r\n--XyZ--\r\n";
        assert_eq!(
            names(body),
            Ok(vec![
                ("user_prompt".into(), None, "hi\r\n--no".into()),
                ("files".into(), Some("a \"b\".txt".into()), "line 1\r\nline 2\r\n".into()),
            ])
        );
        assert_eq!(names("--XyZ--"), Ok(vec![]));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for body in [
            "",
            "--XyZ",
            "--XyZ\r\n",
            "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx",
            "--XyZ\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XyZ--",
            "--XyZ\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--XyZ--",
            "--XyZ\r\nContent-Type: text/plain\r\n\r\nx\r\n--XyZ--",
            "--XyZjunk\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--XyZ--",
        ] {
            assert!(names(body).is_err(), "{body:?}");
        }
        for kind in
            ["", "text/plain; boundary=x", "multipart/form-data", "multipart/form-data; boundary="]
        {
            assert!(parts(kind, b"--x--").is_err(), "{kind}");
        }
        let many = "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n"
            .repeat(PARTS_MAX + 1);
        assert_eq!(names(&format!("{many}--XyZ--")), Err("the form has too many parts"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_between_the_boundaries_arrives(content in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let mut body = b"--XyZ\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n".to_vec();
            body.extend(&content);
            body.extend(b"\r\n--XyZ--\r\n");
            proptest::prop_assume!(find(&content, b"\r\n--XyZ").is_none());
            let read = parts(TYPE, &body).map(|mut parts| parts.remove(0).content);
            proptest::prop_assert_eq!(read, Ok(content));
        }

        #[test]
        fn no_bytes_make_it_stumble(body in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = parts(TYPE, &body);
        }
    }
}
