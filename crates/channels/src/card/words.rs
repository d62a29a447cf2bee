//! Our own words on a card, in the languages that we speak.

use domain::hold::{Question, Risk};
use domain::view::{Author, FormField, Input, Label};
pub use reply_parser::Language;

/// Every text is a match on the language, so that none can be forgotten in one of them.
#[derive(Clone, Copy)]
pub(crate) struct CardWords(pub(crate) Language);

macro_rules! words {
    ($($name:ident: $english:literal, $chinese:literal;)*) => {
        impl CardWords {
            $(pub(crate) fn $name(self) -> &'static str {
                match self.0 {
                    Language::English => $english,
                    Language::Chinese => $chinese,
                }
            })*
        }
    };
}

words! {
    approve: "Approve once", "批准一次";
    approve_now: "Yes, approve it", "是的，批准执行";
    deny: "Deny", "拒绝";
    deny_because: "Deny with a reason…", "拒绝并说明原因…";
    reason: "Reason", "原因";
    reason_for_the_agent: "The agent is told this reason", "该原因会转告智能体";
    answer: "Answer…", "填写…";
    submit: "Submit", "提交";
    back: "Back", "返回";
    choose: "Choose…", "选择…";
    yes: "Yes", "是";
    no: "No", "否";
    free_text: "Your answer", "你的回答";
    open: "Open in Holdpoint", "在 Holdpoint 中打开";
    until: "until", "有效期至";
    requested_by: "Requested by", "请求者";
    may_answer: "May answer", "可回答";
    votes: "Votes", "表态";
    nobody: "nobody", "无人";
    voted_yes: "approved", "批准";
    voted_no: "denied", "拒绝";
    voted_edit: "approved an edit", "批准了修改";
    voted_answer: "answered", "回答";
    rule: "Rule", "规则";
    digest: "Digest", "摘要";
    result: "Result", "结果";
    chosen: "Chosen", "所选";
    failed: "it failed", "执行失败";
    warning: "Warning", "注意";
    or_other: "or something else, in your own words, on the page", "或在页面上用自己的话回答";
    superseded: "superseded", "已被新消息取代";
    more_changed: "… (more was changed than is shown here)", "…（更改较多，此处未全部显示）";
    a_text: "(text)", "（文本）";
    link_opened: "I have opened the link", "我已打开链接";
    more_rules: "More rules apply; the page checks them.", "还有其他规则，以页面检查为准。";
    otherwise: "otherwise", "默认";
    cut: "Not everything fits here. Open the full view to approve.", "内容过长，此处未完整显示。请打开完整页面后再批准。";
    lasting: "This question may wait longer than this card can be changed, so the card has no buttons. The page says how things stand.", "此问题的有效期可能超过卡片可更新的期限，因此卡片没有按钮；当前状态以页面为准。";
    elsewhere: "Answer on the page.", "请在页面上回答。";
    expired: "The time ran out. Nobody decided; nothing was run.", "已超时，无人决定，未执行任何操作。";
    expired_short: "The time ran out. Not enough people agreed; nothing was run.", "已超时，同意人数不足，未执行任何操作。";
    nothing_ran: "nothing was run", "未执行";
    running: "running", "执行中";
    in_doubt: "it is not known whether it ran", "无法确定是否已执行";
    mention_me: "mention me", "请@我";
    processing: "Working on it…", "处理中…";
    taken: "Received.", "已收到。";
    counted: "Your vote counts. Others must agree.", "已计入你的意见，还需其他人同意。";
    already_counted: "Your vote counts already. Others must agree.", "你的意见已计入，还需其他人同意。";
    already: "Already decided:", "已有结果：";
    changed: "This has changed since it was shown here. Look at it again.", "内容已变更，请重新查看。";
    not_entitled: "You may not answer this. Nothing was changed.", "你无权回答此请求，未作任何更改。";
    busy: "It could not be written down just now. Please try again.", "暂时无法记录，请重试。";
    not_here: "This cannot be answered here.", "无法在此处回答。";
    once_more: "Nothing is decided yet. Press once more to approve.", "尚未决定。请再按一次以批准。";
    as_it_was: "Nothing was decided.", "未作决定。";
}

impl CardWords {
    pub(super) fn asked(self, question: &Question) -> &'static str {
        match (self.0, question) {
            (Language::English, Question::Approve) => "Approval needed",
            (Language::English, Question::Choose { .. }) => "A choice is needed",
            (Language::English, Question::Fill { .. }) => "An answer is needed",
            (Language::English, Question::Perform { .. }) => "Something is to be done by hand",
            (Language::English, Question::Settle) => "What really happened?",
            (Language::Chinese, Question::Approve) => "需要批准",
            (Language::Chinese, Question::Choose { .. }) => "需要选择",
            (Language::Chinese, Question::Fill { .. }) => "需要回答",
            (Language::Chinese, Question::Perform { .. }) => "需要人工操作",
            (Language::Chinese, Question::Settle) => "实际结果如何？",
        }
    }

    pub(super) fn of_risk(self, risk: Risk) -> &'static str {
        match (self.0, risk) {
            (Language::English, Risk::Low) => "low risk",
            (Language::English, Risk::Medium) => "medium risk",
            (Language::English, Risk::High) => "high risk",
            (Language::English, Risk::Critical) => "critical risk",
            (Language::Chinese, Risk::Low) => "低风险",
            (Language::Chinese, Risk::Medium) => "中风险",
            (Language::Chinese, Risk::High) => "高风险",
            (Language::Chinese, Risk::Critical) => "极高风险",
        }
    }

    /// The words that answer in this chat, and the code if a yes needs one.
    pub(super) fn reply(self, code: Option<&str>, mention: bool) -> String {
        let with = |word: &str| match code {
            Some(code) => format!("{word} {code}"),
            None => word.to_owned(),
        };
        let text = match self.0 {
            Language::English => {
                format!("Or reply: {} / deny / deny: your reason", with("confirm"))
            }
            Language::Chinese => format!("也可以回复：{} / 拒绝 / 拒绝：原因", with("确认")),
        };
        self.mentioning(text, mention)
    }

    pub(super) fn reply_with_number(self, mention: bool) -> String {
        let text = match self.0 {
            Language::English => "Or reply with a number, or: deny / deny: your reason",
            Language::Chinese => "也可以回复编号，或：拒绝 / 拒绝：原因",
        };
        self.mentioning(text.to_owned(), mention)
    }

    /// Some platforms have no other way to choose several.
    pub(super) fn reply_with_numbers(self, mention: bool) -> String {
        let text = match self.0 {
            Language::English => {
                "Reply with the numbers, as in: 1 and 3. Or: deny / deny: your reason"
            }
            Language::Chinese => "可以回复编号，例如：1 和 3；或：拒绝 / 拒绝：原因",
        };
        self.mentioning(text.to_owned(), mention)
    }

    /// Where not everything is shown.
    pub(super) fn reply_deny(self, mention: bool) -> String {
        let text = match self.0 {
            Language::English => "Or reply: deny / deny: your reason",
            Language::Chinese => "也可以回复：拒绝 / 拒绝：原因",
        };
        self.mentioning(text.to_owned(), mention)
    }

    fn mentioning(self, text: String, mention: bool) -> String {
        match (mention, self.0) {
            (false, _) => text,
            (true, Language::English) => format!("{text} ({})", self.mention_me()),
            (true, Language::Chinese) => format!("{text}（{}）", self.mention_me()),
        }
    }

    pub(crate) fn fewer_keys(self, keys: usize, options: usize) -> String {
        match self.0 {
            Language::English => format!(
                "Only the first {keys} of {options} options have a key. The others can be chosen by their number, or on the page."
            ),
            Language::Chinese => {
                format!(
                    "只有前 {keys} 个选项有按钮（共 {options} 个），其余请回复编号或在页面上选择。"
                )
            }
        }
    }

    pub(crate) fn cut_sizes(self, shown: usize, total: usize, digest: &str) -> String {
        match self.0 {
            Language::English => format!("[cut: {shown} of {total} bytes shown; {digest}]"),
            Language::Chinese => format!("[已截断：显示 {shown} / {total} 字节；{digest}]"),
        }
    }

    /// A sign whose colour tells the risk on platforms without colours of their own.
    pub(super) fn risk_sign(risk: Risk) -> &'static str {
        match risk {
            Risk::Low => "🟢",
            Risk::Medium => "🟡",
            Risk::High => "🟠",
            Risk::Critical => "🔴",
        }
    }

    /// The question that a dangerous button asks once more.
    pub(crate) fn really(self, tag: &str, risk: Risk) -> (String, String) {
        let risk = self.of_risk(risk);
        match self.0 {
            Language::English => (
                format!("Approve #{tag}?"),
                format!("This is {risk}. It runs exactly as the message shows it."),
            ),
            Language::Chinese => {
                (format!("批准 #{tag}？"), format!("{risk}操作，将完全按消息所示执行。"))
            }
        }
    }

    pub(super) fn program(self, name: &str) -> String {
        match self.0 {
            Language::English => format!("program {name}"),
            Language::Chinese => format!("程序 {name}"),
        }
    }

    pub(super) fn agent_named(self, name: &str) -> String {
        match self.0 {
            Language::English => format!("agent {name}"),
            Language::Chinese => format!("智能体 {name}"),
        }
    }

    pub(super) fn with_roles(self, roles: &[&str]) -> String {
        match self.0 {
            Language::English => format!(" (role {})", roles.join(", ")),
            Language::Chinese => format!("（角色 {}）", roles.join("、")),
        }
    }

    pub(super) fn but_not(self, name: &str) -> String {
        match self.0 {
            Language::English => format!(", not {name}"),
            Language::Chinese => format!("，{name} 除外"),
        }
    }

    pub(super) fn must_agree(self, quorum: u32) -> String {
        match self.0 {
            Language::English => format!(" · {quorum} must agree"),
            Language::Chinese => format!(" · 需 {quorum} 人同意"),
        }
    }

    pub(super) fn voted(self, name: &str, verdict: &str, at: &str) -> String {
        format!("{name} {verdict} {at}")
    }

    pub(crate) fn labelled(self, name: &str, value: &str) -> String {
        let text = match self.0 {
            Language::English => format!("{name}: {value}"),
            Language::Chinese => format!("{name}：{value}"),
        };
        text.trim_end().to_owned()
    }

    pub(super) fn labelled_by(self, name: &str, author: &str) -> String {
        match self.0 {
            Language::English => format!("{name} ({author}):"),
            Language::Chinese => format!("{name}（{author}）："),
        }
    }

    /// Who wrote a foreign text; `None` where that goes without saying.
    pub(super) fn author(self, by: Author) -> Option<&'static str> {
        Some(match (self.0, by) {
            (_, Author::Holdpoint | Author::Operator) => return None,
            (Language::English, by) => by.name(),
            (Language::Chinese, Author::Agent) => "智能体",
            (Language::Chinese, Author::Program) => "程序",
            (Language::Chinese, Author::Tool) => "工具",
            (Language::Chinese, Author::Person) => "人员",
        })
    }

    pub(super) fn label(self, label: Label) -> &'static str {
        match (self.0, label) {
            (Language::English, Label::Asks) => "Asks",
            (Language::English, Label::Title) => "Title",
            (Language::English, Label::Edit) => "Changed by an edit",
            (Language::English, Label::Preview) => "Preview",
            (Language::English, Label::Rows) => "Rows",
            (Language::English, Label::Tool) => "Tool",
            (Language::English, Label::Prompt) => "Prompt",
            (Language::English, Label::Arguments) => "Arguments",
            (Language::English, Label::Form) => "To fill in",
            (Language::English, Label::Diff) => "Diff",
            (Language::English, Label::Context) => "Context",
            (Language::English, Label::Effects) => "Effects",
            (Language::English, Label::WorkingDirectory) => "In",
            (Language::English, Label::Runs) => "Runs",
            (Language::Chinese, Label::Asks) => "问题",
            (Language::Chinese, Label::Title) => "标题",
            (Language::Chinese, Label::Edit) => "修改内容",
            (Language::Chinese, Label::Preview) => "预览",
            (Language::Chinese, Label::Rows) => "行数",
            (Language::Chinese, Label::Tool) => "工具",
            (Language::Chinese, Label::Prompt) => "提示",
            (Language::Chinese, Label::Arguments) => "参数",
            (Language::Chinese, Label::Form) => "需填写",
            (Language::Chinese, Label::Diff) => "差异",
            (Language::Chinese, Label::Context) => "背景",
            (Language::Chinese, Label::Effects) => "影响",
            (Language::Chinese, Label::WorkingDirectory) => "目录",
            (Language::Chinese, Label::Runs) => "运行方式",
        }
    }

    /// A value of ours, which the view spells as the API does.
    pub(super) fn fact_value(self, label: Label, value: &str) -> String {
        let text = match (label, self.0, value) {
            (Label::Effects, Language::English, "read_only") => "only reads",
            (Label::Effects, Language::English, "idempotent") => "may be repeated safely",
            (Label::Effects, Language::English, "transactional") => "all or nothing",
            (Label::Effects, Language::English, "at_most_once") => "runs at most once",
            (Label::Effects, Language::Chinese, "read_only") => "只读",
            (Label::Effects, Language::Chinese, "idempotent") => "可安全重复",
            (Label::Effects, Language::Chinese, "transactional") => "全部成功或全部不执行",
            (Label::Effects, Language::Chinese, "at_most_once") => "最多执行一次",
            _ => value,
        };
        text.to_owned()
    }

    pub(super) fn choose_of(self, multiple: bool) -> &'static str {
        match (self.0, multiple) {
            (Language::English, false) => "Choose one of",
            (Language::English, true) => "Choose any of",
            (Language::Chinese, false) => "请选择一项",
            (Language::Chinese, true) => "可选择多项",
        }
    }

    /// Behind an option's label, where the asker chose the id.
    pub(super) fn option_id(self, id: &str) -> String {
        match self.0 {
            Language::English => format!(" (id {id})"),
            Language::Chinese => format!("（标识 {id}）"),
        }
    }

    /// `whole number, required`
    pub(super) fn form_input(self, field: &FormField) -> String {
        let kind = match (self.0, field.input) {
            (Language::English, _) if !field.choices.is_empty() => "one of these",
            (Language::Chinese, _) if !field.choices.is_empty() => "以下之一",
            (Language::English, Input::Text) => "text",
            (Language::English, Input::Number) => "number",
            (Language::English, Input::WholeNumber) => "whole number",
            (Language::English, Input::YesNo) => "yes or no",
            (Language::English, Input::List) => "list",
            (Language::English, Input::Group) => "group",
            (Language::English, Input::Any) => "any value",
            (Language::Chinese, Input::Text) => "文本",
            (Language::Chinese, Input::Number) => "数字",
            (Language::Chinese, Input::WholeNumber) => "整数",
            (Language::Chinese, Input::YesNo) => "是或否",
            (Language::Chinese, Input::List) => "列表",
            (Language::Chinese, Input::Group) => "分组",
            (Language::Chinese, Input::Any) => "任意值",
        };
        let (secret, need) = match (self.0, field.required) {
            (Language::English, true) => (", secret", ", required"),
            (Language::English, false) => (", secret", ", optional"),
            (Language::Chinese, true) => ("，保密", "，必填"),
            (Language::Chinese, false) => ("，保密", "，选填"),
        };
        format!("{kind}{}{need}", if field.secret { secret } else { "" })
    }

    /// `approved by Ana, 14:02 UTC`
    pub(super) fn done_by(self, what: &Done, who: &str, at: &str) -> String {
        match self.0 {
            Language::English => format!("{} by {who}, {at}", what.english()),
            Language::Chinese => format!("{who} {}，{at}", what.chinese()),
        }
    }

    pub(super) fn done(self, what: &Done, at: &str) -> String {
        match self.0 {
            Language::English => format!("{}, {at}", what.english()),
            Language::Chinese => format!("{}，{at}", what.chinese()),
        }
    }
}

/// What was done to a hold.
pub(super) enum Done {
    Approved,
    ApprovedEdited,
    Denied,
    Answered,
    Cancelled,
    ApprovedByRule,
    DeniedByRule,
    ApprovedByGrant,
}

impl Done {
    fn english(&self) -> &'static str {
        match self {
            Done::Approved => "approved",
            Done::ApprovedEdited => "approved with edits",
            Done::Denied => "denied",
            Done::Answered => "answered",
            Done::Cancelled => "taken back",
            Done::ApprovedByRule => "approved by a rule",
            Done::DeniedByRule => "denied by a rule",
            Done::ApprovedByGrant => "approved by a standing grant",
        }
    }

    fn chinese(&self) -> &'static str {
        match self {
            Done::Approved => "已批准",
            Done::ApprovedEdited => "修改后批准",
            Done::Denied => "已拒绝",
            Done::Answered => "已回答",
            Done::Cancelled => "已撤回",
            Done::ApprovedByRule => "已由规则批准",
            Done::DeniedByRule => "已由规则拒绝",
            Done::ApprovedByGrant => "因先前的授权而通过",
        }
    }
}
