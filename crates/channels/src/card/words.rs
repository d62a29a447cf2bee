//! Our own words on a card, in the languages that we speak.

use domain::hold::{Question, Risk};
pub use replies::Language;

/// Every text is a match on the language, so that none can be forgotten in one of them.
#[derive(Clone, Copy)]
pub(crate) struct Words(pub(crate) Language);

macro_rules! words {
    ($($name:ident: $english:literal, $chinese:literal;)*) => {
        impl Words {
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
    approve: "Approve", "确认执行";
    deny: "Deny", "取消";
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
    agent: "Agent", "代理";
    rule: "Rule", "规则";
    digest: "Digest", "摘要";
    cut: "Not everything fits here. Open the full view to approve.", "内容过长，此处未完整显示。请打开完整页面后再确认。";
    lasting: "This question may wait longer than this card can be changed, so the card has no buttons. The page says how things stand.", "此问题的有效期可能超过卡片可更新的期限，因此卡片没有按钮；当前状态以页面为准。";
    elsewhere: "Answer on the page.", "请在页面上回答。";
    expired: "The time ran out. Nobody decided; nothing was run.", "已超时，无人决定，未执行任何操作。";
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
}

impl Words {
    pub(super) fn asked(self, question: &Question) -> &'static str {
        match (self.0, question) {
            (Language::English, Question::Approve) => "Approval needed",
            (Language::English, Question::Choose { .. }) => "A choice is needed",
            (Language::English, Question::Fill { .. }) => "An answer is needed",
            (Language::English, Question::Perform { .. }) => "Something is to be done by hand",
            (Language::English, Question::Settle) => "What really happened?",
            (Language::Chinese, Question::Approve) => "需要确认",
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
            Language::English => format!("Or reply: {} / cancel", with("confirm")),
            Language::Chinese => format!("也可以回复：{} / 取消", with("确认")),
        };
        self.mentioning(text, mention)
    }

    pub(super) fn reply_with_number(self, mention: bool) -> String {
        let text = match self.0 {
            Language::English => "Or reply with a number, or: cancel".to_owned(),
            Language::Chinese => "也可以回复编号，或：取消".to_owned(),
        };
        self.mentioning(text, mention)
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
