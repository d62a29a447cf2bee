//! Which events there are.

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};

/// Every event there is. A new one does not compile until it has a name here, and then does not
/// pass until it has a golden file.
pub(in crate::record) fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Session(SessionEvent::SessionOpened { .. }) => "SessionOpened",
        Event::Session(SessionEvent::MessageQueued { .. }) => "MessageQueued",
        Event::Session(SessionEvent::RunStarted { .. }) => "RunStarted",
        Event::Session(SessionEvent::MessageAdded { .. }) => "MessageAdded",
        Event::Session(SessionEvent::CallProposed { .. }) => "CallProposed",
        Event::Session(SessionEvent::CallMalformed { .. }) => "CallMalformed",
        Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => match event {
            HoldEvent::Opened { .. } => "HoldOpened",
            HoldEvent::Updated { .. } => "HoldUpdated",
            HoldEvent::Decided { .. } => "HoldDecided",
        },
        Event::Session(SessionEvent::CallStarted { .. }) => "CallStarted",
        Event::Session(SessionEvent::CallInDoubt { .. }) => "CallInDoubt",
        Event::Session(SessionEvent::CallSettled { .. }) => "CallSettled",
        Event::Session(SessionEvent::TurnCounted { .. }) => "TurnCounted",
        Event::Session(SessionEvent::BudgetUsedUp { .. }) => "BudgetUsedUp",
        Event::Session(SessionEvent::RunPaused { .. }) => "RunPaused",
        Event::Session(SessionEvent::RunResumed { .. }) => "RunResumed",
        Event::Session(SessionEvent::RunCompleted { .. }) => "RunCompleted",
        Event::Session(SessionEvent::RunFailed { .. }) => "RunFailed",
        Event::Session(SessionEvent::RunStopping { .. }) => "RunStopping",
        Event::Session(SessionEvent::RunCancelled { .. }) => "RunCancelled",
        Event::Session(SessionEvent::GrantMade { .. }) => "GrantMade",
        Event::Session(SessionEvent::GrantUsed { .. }) => "GrantUsed",
        Event::Session(SessionEvent::GrantRevoked { .. }) => "GrantRevoked",
        Event::Global(GlobalEvent::Frozen { .. }) => "Frozen",
        Event::Global(GlobalEvent::Thawed { .. }) => "Thawed",
        Event::Global(GlobalEvent::TokenMinted { .. }) => "TokenMinted",
        Event::Global(GlobalEvent::TokenRevoked { .. }) => "TokenRevoked",
        Event::Global(GlobalEvent::LoginLinkMade { .. }) => "LoginLinkMade",
        Event::Global(GlobalEvent::LoggedIn { .. }) => "LoggedIn",
        Event::Global(GlobalEvent::PolicyInForce { .. }) => "PolicyInForce",
        Event::Global(GlobalEvent::AnswerRefused { .. }) => "AnswerRefused",
        Event::Global(GlobalEvent::DeliveryFailed { .. }) => "DeliveryFailed",
        Event::Global(GlobalEvent::McpServerConnected { .. }) => "McpServerConnected",
        Event::Global(GlobalEvent::McpServerDisconnected { .. }) => "McpServerDisconnected",
        Event::Global(GlobalEvent::McpServerRefused { .. }) => "McpServerRefused",
    }
}

pub(in crate::record) const EVENT_NAMES: [&str; 35] = [
    "SessionOpened",
    "MessageQueued",
    "RunStarted",
    "MessageAdded",
    "CallProposed",
    "CallMalformed",
    "HoldOpened",
    "HoldUpdated",
    "HoldDecided",
    "CallStarted",
    "CallInDoubt",
    "CallSettled",
    "TurnCounted",
    "BudgetUsedUp",
    "RunPaused",
    "RunResumed",
    "RunCompleted",
    "RunFailed",
    "RunStopping",
    "RunCancelled",
    "GrantMade",
    "GrantUsed",
    "GrantRevoked",
    "Frozen",
    "Thawed",
    "TokenMinted",
    "TokenRevoked",
    "LoginLinkMade",
    "LoggedIn",
    "PolicyInForce",
    "AnswerRefused",
    "DeliveryFailed",
    "McpServerConnected",
    "McpServerDisconnected",
    "McpServerRefused",
];

/// What readers of the first version do not know; the golden files of these are in a folder of their
/// own.
pub(in crate::record) const SINCE_V2: [&str; 3] =
    ["turn_counted", "budget_used_up", "hold_revealed"];

/// The same of the second version.
pub(in crate::record) const SINCE_V3: [&str; 2] = ["answer_refused", "delivery_failed"];

/// The same of the third version.
pub(in crate::record) const SINCE_V4: [&str; 9] = [
    "login_link_made",
    "logged_in_by_link",
    "token_minted_through",
    "voted_by_link",
    "voted_by_program",
    "hold_refusing_made_logins",
    "hold_voted_by_token",
    "call_with_sql_facts",
    "hold_with_sql_facts",
];

/// The same of the fourth version.
pub(in crate::record) const SINCE_V5: [&str; 2] =
    ["hold_of_a_made_login", "message_by_a_made_login"];

/// The same of the fifth version.
pub(in crate::record) const SINCE_V6: [&str; 21] = [
    "hold_with_kinds_of_warnings",
    "hold_with_codes_of_look_alikes",
    "hold_revised_with_warning",
    "hold_with_kind_of_title",
    "hold_revised_with_captions",
    "hold_with_captions_1",
    "hold_with_captions_2",
    "hold_with_captions_3",
    "hold_with_captions_4",
    "hold_with_captions_5",
    "hold_with_captions_6",
    "hold_with_captions_7",
    "hold_with_captions_8",
    "hold_with_captions_9",
    "hold_with_captions_10",
    "hold_with_captions_11",
    "hold_with_captions_12",
    "decided_cancelled_as_stated",
    "call_with_phrases",
    "hold_with_phrases",
    "hold_with_phrases_of_a_warning",
];

/// The same of the sixth version.
pub(in crate::record) const SINCE_V7: [&str; 9] = [
    "message_with_files",
    "message_with_a_file",
    "hold_commented",
    "hold_with_comments",
    "hold_since_commented",
    "mcp_server_connected",
    "mcp_server_disconnected",
    "mcp_server_lost",
    "mcp_server_refused",
];

/// Of [`SINCE_V6`]: holds whose titles and summaries are of every kind.
pub(super) const CAPTIONED: [&str; 12] = [
    "hold_with_captions_1",
    "hold_with_captions_2",
    "hold_with_captions_3",
    "hold_with_captions_4",
    "hold_with_captions_5",
    "hold_with_captions_6",
    "hold_with_captions_7",
    "hold_with_captions_8",
    "hold_with_captions_9",
    "hold_with_captions_10",
    "hold_with_captions_11",
    "hold_with_captions_12",
];
