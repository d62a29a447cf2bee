//! Messages on a pipe: one a line, of a bounded length.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A line without its end; `None` at the end of the stream.
pub async fn next_line(
    from: &mut (impl AsyncBufRead + Unpin),
    max: usize,
) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    loop {
        let chunk = from.fill_buf().await.map_err(|error| format!("it cannot be read: {error}"))?;
        if chunk.is_empty() {
            // Half a line at the end is none.
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(chunk.len());
        if line.len() + taken > max {
            return Err(format!("it sent a message of more than {max} bytes"));
        }
        line.extend_from_slice(&chunk[..taken]);
        from.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// Leaves out the rest of a line that was too long. Says whether another may follow.
pub async fn skip_line(from: &mut (impl AsyncBufRead + Unpin)) -> bool {
    loop {
        let (taken, ended) = match from.fill_buf().await {
            Ok([]) | Err(_) => return false,
            Ok(chunk) => {
                let end = chunk.iter().position(|byte| *byte == b'\n');
                (end.map_or(chunk.len(), |end| end + 1), end.is_some())
            }
        };
        from.consume(taken);
        if ended {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn the_line_after_one_that_is_too_long_is_read() {
        let mut from = BufReader::with_capacity(4, &b"0123456789abcdef\nok\nhalf"[..]);
        assert!(next_line(&mut from, 8).await.is_err());
        assert!(skip_line(&mut from).await);
        assert_eq!(next_line(&mut from, 8).await.unwrap().unwrap(), b"ok");
        assert_eq!(next_line(&mut from, 8).await.unwrap(), None);
        assert!(!skip_line(&mut from).await);
    }
}
