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
#[cfg(feature = "channel-dingtalk")]
pub use channels::dingtalk;
#[cfg(feature = "channel-email")]
pub use channels::email;
#[cfg(feature = "channel-feishu")]
pub use channels::feishu;
#[cfg(feature = "channel-slack")]
pub use channels::slack;
#[cfg(feature = "channel-telegram")]
pub use channels::telegram;
#[cfg(feature = "channel-webhook")]
pub use channels::webhook;
#[cfg(feature = "chats")]
pub use chat::OnAmbiguous;
