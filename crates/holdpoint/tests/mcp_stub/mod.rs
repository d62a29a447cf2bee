//! An MCP server for tests, as a script for `sh`.

/// An MCP server with one tool.
pub(crate) const NOTES: &str = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"initialize"'*) reply '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
  *'"tools/list"'*) reply '"result":{"tools":[{"name":"note","description":"Takes a note.","inputSchema":{"type":"object"}}]}' ;;
  *) [ -z "$id" ] || reply '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
"#;
