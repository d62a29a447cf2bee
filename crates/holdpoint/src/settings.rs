//! The settings of what comes with Holdpoint: tools, MCP servers, models, channels and doors. They are the
//! types that the configuration file is read into; here a program fills them in itself.

#[cfg(feature = "anthropic")]
pub use models::anthropic::{Cache, Thinking};
#[cfg(feature = "vendor")]
pub use models::settings::TimeLimits;
pub use ports::secret_string::SecretString;
#[cfg(feature = "server")]
pub use server::{
    AgentType, AiSdk, DoorSetup, Format, FrontendTools, NamedAgent, PageFiles, ToolWords, Ui, Wire,
    World, Worlds,
};
#[cfg(feature = "process")]
pub use tools::command::CommandConfig;
#[cfg(feature = "http")]
pub use tools::http::{BodyTemplate, HttpConfig, SecretHeader};
#[cfg(feature = "mcp")]
pub use tools::mcp::{McpConfig, McpEndpoint};
#[cfg(feature = "process")]
pub use tools::process::{Environment, Supervisor, supervise};
#[cfg(feature = "process")]
pub use tools::shell_cmd::ShellConfig;
#[cfg(feature = "sql")]
pub use tools::sql::postgres::{PgModifyConfig, PgQueryConfig, PgTarget};
#[cfg(feature = "sql")]
pub use tools::sql::{ModifyConfig, QueryConfig, SqlDatabases};

#[cfg(feature = "vendor")]
pub use crate::embed::{HeaderSource, ProxySource};
#[cfg(feature = "chats")]
pub use crate::platform::PlatformSettings;
#[cfg(feature = "vendor")]
pub use crate::secret_source::SecretSource;

#[cfg(feature = "chats")]
pub use channels::card::{Language, Zone};
#[cfg(feature = "chats")]
pub use chat::OnAmbiguous;

// --- channels: here the module names the platform, and programs know its types by these shorter names

/// DingTalk.
#[cfg(feature = "channel-dingtalk")]
pub mod dingtalk {
    pub use channels::dingtalk::*;
    pub use channels::dingtalk::{
        DingTalkEnvelope as Envelope, DingTalkFrame as Frame, DingTalkMode as Mode,
        DingTalkSettings as Settings, FrameKind as Kind,
    };
}

/// E-mail.
#[cfg(feature = "channel-email")]
pub mod email {
    pub use channels::email::EmailSettings as Settings;
    pub use channels::email::*;
}

/// Feishu and Lark.
#[cfg(feature = "channel-feishu")]
pub mod feishu {
    pub use channels::feishu::*;
    pub use channels::feishu::{
        FeishuApp as App, FeishuEvent as Event, FeishuFrame as Frame, FeishuMode as Mode,
        FeishuSettings as Settings, text_message as text,
    };
}

/// Slack.
#[cfg(feature = "channel-slack")]
pub mod slack {
    pub use channels::slack::*;
    pub use channels::slack::{SlackMode as Mode, SlackSettings as Settings};
}

/// Telegram.
#[cfg(feature = "channel-telegram")]
pub mod telegram {
    pub use channels::telegram::*;
    pub use channels::telegram::{
        BotToken as Token, TelegramMode as Mode, TelegramSecret as Secret,
        TelegramSettings as Settings,
    };
}

/// Webhooks.
#[cfg(feature = "channel-webhook")]
pub mod webhook {
    pub use channels::webhook::*;
    pub use channels::webhook::{WebhookSecret as Secret, WebhookSettings as Settings};
}
