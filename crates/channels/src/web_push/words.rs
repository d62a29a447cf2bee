//! What a notice says. It stands on a locked screen, so it is made of our own words alone: what kind of call it is, and how
//! dangerous. No title, target, argument, name or comment that anybody else wrote.

use domain::hold::{Hold, HoldStateName, Risk};
use domain::view::{Headline, HeadlineVerb};
use ports::push::{PushKind, PushLanguage, PushNotice};
use serde_json::{Value, json};

/// What the page's service worker shows, what it needs to open the card, and the count for the page's icon.
pub(super) fn message(notice: &PushNotice<'_>) -> Value {
    let hold = notice.hold;
    let verb = verb(Headline::of(hold).verb);
    let (title, body) = match notice.language {
        PushLanguage::English => (verb.0, body_en(notice.kind, hold)),
        PushLanguage::Chinese => (verb.1, body_zh(notice.kind, hold)),
    };
    json!({
        "kind": notice.kind.name(),
        "hold": hold.id.to_string(),
        "title": format!("{} · {title}", hold.tag),
        "body": body,
        "waiting": notice.waiting,
    })
}

fn body_en(kind: PushKind, hold: &Hold) -> String {
    match kind {
        PushKind::Asks => format!("{} risk. It waits for your answer.", risk_en(hold.risk)),
        PushKind::Soon => "It expires soon, and waits for your answer.".into(),
        PushKind::Said => "A comment is addressed to you.".into(),
        PushKind::Settled => match hold.state.state_name() {
            HoldStateName::Pending => "It does not wait for you any more.",
            HoldStateName::Approved => "Approved. Nothing is left for you to do.",
            HoldStateName::Denied => "Denied. Nothing is left for you to do.",
            HoldStateName::Answered => "Answered. Nothing is left for you to do.",
            HoldStateName::Expired => "It expired, and nothing was done.",
            HoldStateName::Cancelled => "Withdrawn. Nothing is left for you to do.",
        }
        .into(),
    }
}

fn body_zh(kind: PushKind, hold: &Hold) -> String {
    match kind {
        PushKind::Asks => format!("{}风险，等待你的答复。", risk_zh(hold.risk)),
        PushKind::Soon => "即将过期，仍在等待你的答复。".into(),
        PushKind::Said => "有一条评论提到了你。".into(),
        PushKind::Settled => match hold.state.state_name() {
            HoldStateName::Pending => "不再需要你答复。",
            HoldStateName::Approved => "已批准，你无需再做什么。",
            HoldStateName::Denied => "已拒绝，你无需再做什么。",
            HoldStateName::Answered => "已答复，你无需再做什么。",
            HoldStateName::Expired => "已过期，什么都没有执行。",
            HoldStateName::Cancelled => "已撤回，你无需再做什么。",
        }
        .into(),
    }
}

fn risk_en(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "Low",
        Risk::Medium => "Medium",
        Risk::High => "High",
        Risk::Critical => "Critical",
    }
}

fn risk_zh(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "低",
        Risk::Medium => "中",
        Risk::High => "高",
        Risk::Critical => "极高",
    }
}

fn verb(verb: HeadlineVerb) -> (&'static str, &'static str) {
    match verb {
        HeadlineVerb::InsertRows => ("Insert rows", "插入数据"),
        HeadlineVerb::UpsertRows => ("Insert or overwrite rows", "插入或覆盖数据"),
        HeadlineVerb::UpdateRows => ("Change rows", "修改数据"),
        HeadlineVerb::DeleteRows => ("Delete rows", "删除数据"),
        HeadlineVerb::DropTable => ("Drop a table", "删除数据表"),
        HeadlineVerb::CreateTable => ("Create a table", "新建数据表"),
        HeadlineVerb::AlterTable => ("Alter a table", "修改表结构"),
        HeadlineVerb::ChangeTables => ("Change tables", "修改多个数据表"),
        HeadlineVerb::QueryDatabase => ("Query a database", "查询数据库"),
        HeadlineVerb::RunCommand => ("Run a command", "运行命令"),
        HeadlineVerb::RunScript => ("Run a script", "运行脚本"),
        HeadlineVerb::SendRequest => ("Send a request", "发送请求"),
        HeadlineVerb::EditFiles => ("Edit files", "修改文件"),
        HeadlineVerb::Deploy => ("Deploy", "部署"),
        HeadlineVerb::CallTool => ("Call a tool", "调用工具"),
        HeadlineVerb::CarryOut => ("Carry something out", "执行一项操作"),
        HeadlineVerb::ChooseOne => ("A choice", "做一个选择"),
        HeadlineVerb::ChooseMany => ("A choice of several", "做多项选择"),
        HeadlineVerb::FillForm => ("A form to fill in", "填写表单"),
        HeadlineVerb::AnswerQuestion => ("A question", "回答问题"),
        HeadlineVerb::GoOn => ("Let a run go on", "让任务继续"),
        HeadlineVerb::Permit => ("A permission", "请求许可"),
    }
}
