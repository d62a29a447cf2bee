import { render } from "preact";
import { App } from "./app";
import { onKey } from "./keys";
import { onLinkClick } from "./route";
import "./style/tokens.css";
import "./style/base.css";
import "./style/components.css";
import "./style/frame.css";
import "./style/inbox.css";
import "./style/tables.css";
import "./style/hold.css";
import "./style/bar.css";
import "./style/foreign.css";
import "./style/chat.css";
import "./style/files.css";
import "./style/admin.css";
import "./comments/comments.css";

document.addEventListener("click", onLinkClick);
document.addEventListener("keydown", onKey);

const root = document.getElementById("app");
if (root) render(<App />, root);
