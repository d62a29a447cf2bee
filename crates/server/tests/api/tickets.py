"""An MCP server that wants OAuth, with its authorization server: enough for an admin to begin to connect it.
No browser comes, so nobody ever consents."""

from loopback import Loopback


class Tickets(Loopback):
    def answer(self, path: str, body: dict) -> tuple[int, object]:
        here = f"http://127.0.0.1:{self.port}"
        match path:
            case "/mcp":
                return 401, {"error": "invalid_token"}
            case "/.well-known/oauth-protected-resource/mcp":
                return 200, {"resource": f"{here}/mcp", "authorization_servers": [here]}
            case "/.well-known/oauth-authorization-server":
                return 200, {
                    "issuer": here,
                    "authorization_endpoint": f"{here}/authorize",
                    "token_endpoint": f"{here}/token",
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                }
        return 404, {"error": "not_found"}
