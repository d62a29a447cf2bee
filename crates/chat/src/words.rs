//! What we say ourselves in chats, in the languages that we speak.

use domain::hold::{Decision, Hold, HoldState};
use domain::person::People;
use domain::refusal::{AnswerFault, Refusal};
use domain::schema::{SchemaError, SchemaErrors, SchemaFault};
use domain::visible::visible;
use reply_parser::{AmbiguityReason, Language, ReplyVerdict};

/// Every text is a match on the language, so that none can be forgotten in one of them.
#[derive(Clone, Copy)]
pub(crate) struct ChatWords(pub(crate) Language);

impl ChatWords {
    fn either(self, english: impl Into<String>, chinese: impl Into<String>) -> String {
        match self.0 {
            Language::English => english.into(),
            Language::Chinese => chinese.into(),
        }
    }

    pub(crate) fn failed(self) -> &'static str {
        match self.0 {
            Language::English => {
                "Something went wrong, and the agent stopped. An admin can see why."
            }
            Language::Chinese => "出错了，智能体已停止。管理员可以查看原因。",
        }
    }

    pub(crate) fn login_link(self, url: &str) -> String {
        self.either(
            format!(
                "Your login link, good once within 15 minutes; show it to nobody: {url}\nIf you did \
                 not ask for it, you need not do anything."
            ),
            format!("你的登录链接，15 分钟内有效，仅可使用一次，请勿转发：{url}\n如果不是你本人请求的，无需理会。"),
        )
    }

    /// An admin tries a channel.
    pub(crate) fn test_message(self) -> String {
        self.either(
            "A test from Holdpoint: this channel works. Nothing is asked.",
            "Holdpoint 测试消息：此渠道工作正常，无需回复。",
        )
    }

    pub(crate) fn expired(self, hold: &Hold) -> String {
        let tag = &hold.tag;
        if hold.votes.is_empty() {
            return self.either(
                format!("#{tag}: the time ran out. Nobody decided, and nothing was run."),
                format!("#{tag}：已超时，无人决定，未执行任何操作。"),
            );
        }
        self.either(
            format!("#{tag}: the time ran out. Not enough people agreed, and nothing was run."),
            format!("#{tag}：已超时，同意人数不足，未执行任何操作。"),
        )
    }

    /// A second, different vote of the same person.
    pub(crate) fn already_voted(self, tag: &str) -> String {
        self.either(
            format!("#{tag}: you have answered it otherwise already, and that answer counts."),
            format!("#{tag}：你已作出不同的回答，以先前的回答为准。"),
        )
    }

    pub(crate) fn nothing_written(self) -> String {
        self.either("Write something first.", "请先填写内容。")
    }

    pub(crate) fn nothing_chosen(self) -> String {
        self.either("Choose something first.", "请先选择。")
    }

    /// Why an answer on a card was not taken.
    pub(crate) fn not_taken(self, refusal: &Refusal) -> String {
        let why = self.why(refusal);
        self.either(why.as_str(), format!("回答未被接受：{why}"))
    }

    /// A refusal in this language. The engine's own words are English, and are said by its `Display`.
    pub(crate) fn why(self, refusal: &Refusal) -> String {
        match self.0 {
            Language::English => visible(&refusal.to_string()),
            Language::Chinese => visible(&in_chinese(refusal)),
        }
    }

    /// `#7Q2: approved by Ana`
    pub(crate) fn ended(self, hold: &Hold, people: &People) -> String {
        let tag = &hold.tag;
        let by = |decision: &Decision| match decision.vote() {
            Some(vote) => visible(people.name_of(&vote.by)),
            None => self.either("a rule", "规则"),
        };
        match &hold.state {
            HoldState::Pending => self.either(
                format!("#{tag}: your answer counts, and others are still needed."),
                format!("#{tag}：已记录，还需要其他人确认。"),
            ),
            HoldState::Approved(decision) => {
                let by = by(decision);
                self.either(format!("#{tag}: approved by {by}."), format!("#{tag}：{by} 已批准。"))
            }
            HoldState::Denied(decision) => {
                let by = by(decision);
                self.either(format!("#{tag}: denied by {by}."), format!("#{tag}：{by} 已拒绝。"))
            }
            HoldState::Answered(decision) => {
                let by = by(decision);
                self.either(format!("#{tag}: answered by {by}."), format!("#{tag}：{by} 已回答。"))
            }
            HoldState::Expired { .. } => self.expired(hold),
            HoldState::Cancelled { .. } => self.either(
                format!("#{tag}: taken back; nobody need answer any more."),
                format!("#{tag}：已撤回，无需再回答。"),
            ),
        }
    }

    pub(crate) fn not_entitled(self, tag: &str) -> String {
        self.either(format!("#{tag} is not for you to answer."), format!("你无权回答 #{tag}。"))
    }

    pub(crate) fn changed(self, tag: &str) -> String {
        self.either(
            format!("#{tag} has changed since. Please read it again and then answer."),
            format!("#{tag} 已变更，请重新阅读后再回答。"),
        )
    }

    pub(crate) fn not_whole(self, tag: &str) -> String {
        self.either(
            format!("#{tag} does not fit here as a whole. Open the full view to approve it."),
            format!("#{tag} 在此处未完整显示，请打开完整页面后再确认。"),
        )
    }

    pub(crate) fn invalid(self, tag: &str, refusal: &Refusal) -> String {
        let why = self.why(refusal);
        self.either(format!("#{tag}: {why}"), format!("#{tag}：回答未被接受：{why}"))
    }

    pub(crate) fn locked(self, tag: &str) -> String {
        self.either(
            format!("#{tag}: too many wrong codes. It can only be answered by its buttons or on the page now."),
            format!("#{tag}：验证码错误次数过多，现在只能通过按钮或页面回答。"),
        )
    }

    /// The question again, and why.
    pub(crate) fn reask(self, tag: &str, reason: AmbiguityReason, choice: bool) -> String {
        let because = self.because(reason);
        let how = match (self.0, reason, choice) {
            (Language::English, AmbiguityReason::CodeRequired | AmbiguityReason::BadCode, _) => {
                "reply with the code that the question shows, or: deny"
            }
            (Language::English, _, true) => "reply with a number, or: deny",
            (Language::English, _, false) => "reply: confirm / deny",
            (Language::Chinese, AmbiguityReason::CodeRequired | AmbiguityReason::BadCode, _) => {
                "请回复提示中的验证码，或：拒绝"
            }
            (Language::Chinese, _, true) => "请回复编号，或：拒绝",
            (Language::Chinese, _, false) => "请回复：确认 / 拒绝",
        };
        self.either(
            format!("#{tag} still waits: {because}. Please {how}."),
            format!("#{tag} 仍在等待：{because}。{how}。"),
        )
    }

    fn because(self, reason: AmbiguityReason) -> &'static str {
        if self.0 == Language::English {
            return ReplyVerdict::Ambiguous(reason).describe();
        }
        match reason {
            AmbiguityReason::Attachment => "只有纯文字可以作为回答",
            AmbiguityReason::Bidi => "其中的字符会改变文字方向，看到的可能不是实际内容",
            AmbiguityReason::Formatted => "部分内容被划掉、隐藏或设为代码",
            AmbiguityReason::OtherMention => "这条消息还提到了其他人",
            AmbiguityReason::TooLong => "回答应当简短",
            AmbiguityReason::Quoted => "这是引用的话",
            AmbiguityReason::Unfinished => "这句话似乎没有说完",
            AmbiguityReason::Empty => "没有可读的内容",
            AmbiguityReason::Mixed => "既像同意又像拒绝",
            AmbiguityReason::Symbol => "其中的表情含义不明",
            AmbiguityReason::Weak => "这里需要明确的词，例如“确认”",
            AmbiguityReason::Request => "这是在请别人同意；回答请直接以“确认”开头",
            AmbiguityReason::Command => "这是别的命令",
            AmbiguityReason::Question => "这是一个问题",
            AmbiguityReason::DoubleNegative => "双重否定有歧义",
            AmbiguityReason::OutOfRange => "没有这个编号的选项",
            AmbiguityReason::CodeRequired => "缺少提示中的验证码",
            AmbiguityReason::BadCode => "验证码不对",
            AmbiguityReason::Hold => "对方希望再等等",
            AmbiguityReason::Ack => "已收到，但没有作出回答",
            AmbiguityReason::WhichOption => "没有说明选哪一项",
            AmbiguityReason::Unknown => "其中有无法识别的词",
            AmbiguityReason::MultiplePending => "这里有多个问题在等待，没有指明是哪一个",
        }
    }

    /// A sign that an unclear reply arrived, where the question is not put again.
    pub(crate) fn unclear(self, tag: &str, kept: bool) -> String {
        match kept {
            true => self.either(
                format!("#{tag} still waits: that decided nothing. The agent gets your words."),
                format!("#{tag} 仍在等待：这条回复没有作出决定，已转给智能体。"),
            ),
            false => self.either(
                format!("#{tag} still waits: that decided nothing."),
                format!("#{tag} 仍在等待：这条回复没有作出决定。"),
            ),
        }
    }

    /// How "yes, but …" becomes a no whose reason the agent is told.
    pub(crate) fn offers_a_reason(self) -> String {
        self.either(
            " To deny it and send the agent your words as the reason, reply: deny: your words",
            "如需拒绝并把你的话作为原因转告智能体，请回复：拒绝：你的话",
        )
    }

    pub(crate) fn which(self, tags: &[&str]) -> String {
        let tags: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
        let tags = tags.join(", ");
        self.either(
            format!(
                "Several questions wait here: {tags}. Please say which, as in: confirm {}",
                first(&tags)
            ),
            format!("这里有多个问题在等待：{tags}。请注明是哪一个，例如：确认 {}", first(&tags)),
        )
    }

    pub(crate) fn unlinked(self, platform: &str, identity: &str) -> String {
        let identity = visible(identity);
        self.either(
            format!("I do not know who you are. Ask an admin to add this to your entry under [[people]]: identities = {{ {platform} = \"{identity}\" }}"),
            format!("我不知道你是谁。请管理员在 [[people]] 中你的条目里添加：identities = {{ {platform} = \"{identity}\" }}"),
        )
    }

    pub(crate) fn refused(self, refusal: &Refusal) -> String {
        let why = self.why(refusal);
        self.either(
            format!("That did not reach the agent: {why}"),
            format!("消息未送达智能体：{why}"),
        )
    }
}

fn first(tags: &str) -> &str {
    tags.split(',').next().unwrap_or_default()
}

/// Every refusal has its words here: a new one does not compile without.
fn in_chinese(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotFound { .. } => "找不到，或你无权查看".into(),
        Refusal::NotEntitled { .. } => "你可以查看，但无权这样做".into(),
        Refusal::AlreadyDecided { hold } => format!("此请求{}", state_in_chinese(&hold.state)),
        Refusal::AlreadyVoted { .. } => "你已作出不同的回答".into(),
        Refusal::VersionConflict { .. } => "内容在显示之后已变更，请重新查看".into(),
        Refusal::Expired { .. } => "回答到达之前已超时，未执行任何操作".into(),
        Refusal::AnswerInvalid { why, .. } => fault_in_chinese(why),
        Refusal::HoldsOpen { holds } => {
            format!("本会话有 {} 个请求等待回答，请先回答或撤回", holds.len())
        }
        Refusal::OutOfTurn { .. } => "运行的当前状态不允许这样做".into(),
        Refusal::Frozen { reason } => format!("一切已冻结：{reason}"),
        Refusal::TooMany { limit, .. } => format!("数量已达上限（{limit}）"),
        Refusal::OneOfSeveral { why, .. } => format!("{}；这些回答均未生效", in_chinese(why)),
        Refusal::Overtaken => "已有其他操作先行完成".into(),
    }
}

fn state_in_chinese(state: &HoldState) -> &'static str {
    match state {
        HoldState::Pending => "仍在等待",
        HoldState::Approved(_) => "已批准",
        HoldState::Denied(_) => "已拒绝",
        HoldState::Answered(_) => "已回答",
        HoldState::Expired { .. } => "已超时",
        HoldState::Cancelled { .. } => "已撤回",
    }
}

fn fault_in_chinese(fault: &AnswerFault) -> String {
    match fault {
        AnswerFault::TooLong { bytes_max } | AnswerFault::FieldTooLong { bytes_max, .. } => {
            format!("内容超过 {bytes_max} 字节")
        }
        AnswerFault::NothingSaid => "请先填写内容".into(),
        AnswerFault::NoContent => "请填写代替工具结果交给模型的内容".into(),
        AnswerFault::OtherKind { .. } => "此请求不接受这种回答".into(),
        AnswerFault::NothingChosen => "请选择一项".into(),
        AnswerFault::MoreThanOne => "只能选择一项".into(),
        AnswerFault::MoreThanThereAre => "所选多于选项".into(),
        AnswerFault::NotAnOption { text } => format!("“{text}”不在选项之中"),
        AnswerFault::ChosenTwice => "同一选项选了两次".into(),
        AnswerFault::NotOneText => "请填写一段文字".into(),
        AnswerFault::NotAsTheForm(errors) => {
            format!("填写内容不符合表单要求：{}", schema_errors_in_chinese(errors))
        }
        AnswerFault::NotAsTheTool(errors) => {
            format!("参数不符合工具的要求：{}", schema_errors_in_chinese(errors))
        }
        AnswerFault::FormUnreadable => "此表单无法读取：请拒绝，并让对方重新提问".into(),
        AnswerFault::NoCallWaits => "此处没有等待执行的调用：请批准继续运行，或拒绝".into(),
        AnswerFault::NoDigest => "批准时必须指明所显示调用的摘要".into(),
        AnswerFault::NoGrantHere => "此处不能给予长期授权".into(),
        AnswerFault::Told(why) => format!("内容有误（{why}）"),
    }
}

fn schema_errors_in_chinese(errors: &SchemaErrors) -> String {
    let told = |error: &SchemaError| {
        let fault = schema_fault_in_chinese(&error.fault);
        match error.plain_way() {
            Some(way) => format!("“{way}”{fault}"),
            None if error.pointer.is_empty() => fault,
            None => format!("有一项{fault}"),
        }
    };
    errors.iter().map(told).collect::<Vec<_>>().join("；")
}

fn schema_fault_in_chinese(fault: &SchemaFault) -> String {
    match fault {
        SchemaFault::WrongType { types } => {
            let types: Vec<&str> = types.iter().map(|name| type_in_chinese(name)).collect();
            format!("类型不对，应为{}", types.join("或"))
        }
        SchemaFault::Missing { name: Some(name) } => format!("缺少“{name}”"),
        SchemaFault::Missing { name: None } => "缺少一项必填内容".into(),
        SchemaFault::Unexpected => "含有表单中没有的内容".into(),
        SchemaFault::NotListed => "不是可选的值".into(),
        SchemaFault::Pattern => "不符合要求的样式".into(),
        SchemaFault::Format => "不符合要求的格式".into(),
        SchemaFault::TooShort { min } => format!("少于 {min} 个字符"),
        SchemaFault::TooLong { max } => format!("超过 {max} 个字符"),
        SchemaFault::TooFewItems { min } => format!("少于 {min} 项"),
        SchemaFault::TooManyItems { max } => format!("超过 {max} 项"),
        SchemaFault::TooFewFields { min } => format!("少于 {min} 个字段"),
        SchemaFault::TooManyFields { max } => format!("超过 {max} 个字段"),
        SchemaFault::TooSmall { min } => format!("小于 {min}"),
        SchemaFault::NotAbove { limit } => format!("应大于 {limit}"),
        SchemaFault::TooLarge { max } => format!("大于 {max}"),
        SchemaFault::NotBelow { limit } => format!("应小于 {limit}"),
        SchemaFault::NotMultiple { of } => format!("应为 {of} 的倍数"),
        SchemaFault::Repeated => "含有重复的项".into(),
        SchemaFault::Other => "不符合要求".into(),
    }
}

fn type_in_chinese(name: &str) -> &'static str {
    match name {
        "string" => "文字",
        "integer" => "整数",
        "number" => "数字",
        "boolean" => "是或否",
        "array" => "列表",
        "object" => "对象",
        _ => "空",
    }
}

#[cfg(test)]
mod tests {
    use domain::answer::Answer;
    use domain::hold::Question;
    use domain::id::HoldId;
    use domain::schema;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_question_is_put_again_with_its_reason_in_both_languages() {
        let asked = |language| {
            AmbiguityReason::ALL
                .map(|reason| (reason, ChatWords(language).reask("7Q2", reason, false)))
        };
        for (reason, text) in asked(Language::English) {
            assert!(text.contains(ReplyVerdict::Ambiguous(reason).describe()), "{text}");
        }
        let chinese = asked(Language::Chinese);
        for (index, (reason, text)) in chinese.iter().enumerate() {
            let told = text.strip_prefix("#7Q2 仍在等待：").expect("a reason");
            assert!(!told.chars().any(|c| c.is_ascii_alphabetic()), "{reason:?}: {text}");
            assert!(!chinese[..index].iter().any(|(_, other)| other == text), "{reason:?}: {text}");
        }
    }

    /// What a form says to a value, where it says something of every kind.
    fn misfits(value: Value) -> SchemaErrors {
        let schema = json!({
            "properties": {
                "姓名": {"type": "string"},
                "数": {"type": "integer", "maximum": 3, "exclusiveMaximum": 3, "multipleOf": 4},
                "组": {"minItems": 3, "uniqueItems": true, "contains": {"const": 7}},
            },
            "required": ["数"],
        });
        schema::check(&schema, &value).expect_err("it does not fit")
    }

    #[test]
    fn i47_no_word_of_a_form_is_in_what_a_chat_is_told() {
        const FORGED: &str = "FORGED\n✅ approved by Ana\u{202e}\u{200b}";
        let long = FORGED.repeat(200);
        let schema = json!({
            "properties": {
                "a": {"pattern": FORGED},
                "b": {"enum": [FORGED, long]},
                "c": {"const": FORGED},
                FORGED: {"pattern": long},
            },
            "required": [long],
            "additionalProperties": false,
        });
        let form = Question::Fill { schema: Some(schema) };
        let value = json!({"a": "x", "b": "x", "c": "x", FORGED: "x", "more": 1});
        let refused = form.fits(&Answer::Fill(value)).expect_err("it does not fit");
        let label = |label: &str| (label.to_owned(), None);
        let choice = Question::choose([label(FORGED), label("no")], true, false).expect("a choice");
        let choose = |texts: &[&str]| {
            let answer = Answer::Choose(texts.iter().map(|text| (*text).to_owned()).collect());
            choice.fits(&answer).expect_err("it does not fit")
        };
        for refused in [refused, choose(&["3"]), choose(&["1", FORGED])] {
            let refusal = Refusal::AnswerInvalid { field: refused.field, why: refused.why };
            for language in [Language::English, Language::Chinese] {
                let words = ChatWords(language);
                for told in [words.not_taken(&refusal), words.invalid("7", &refusal)] {
                    assert!(!told.contains("FORGED") && !told.contains("Ana"), "{told}");
                    assert!(!told.contains(['\u{202e}', '\u{200b}', '\n', '⟦']), "{told}");
                    assert!(told.chars().count() < 400, "{told}");
                }
            }
        }
    }

    #[test]
    fn refusals_are_chinese_too() {
        let words = ChatWords(Language::Chinese);
        for text in [words.already_voted("7"), words.nothing_chosen(), words.nothing_written()] {
            assert!(!text.chars().any(|c| c.is_ascii_alphabetic()), "{text}");
        }
    }

    #[test]
    fn what_the_engine_refuses_is_chinese_in_a_chinese_chat() {
        let fault = |why| Refusal::AnswerInvalid { field: "answer".into(), why };
        let refusals = [
            Refusal::NotFound { what: "session" },
            Refusal::NotEntitled { why: "only its creator speaks in a session".into() },
            Refusal::HoldsOpen { holds: Vec::new() },
            Refusal::OutOfTurn { is: "completed", wanted: "be cancelled" },
            Refusal::Frozen { reason: "检修".into() },
            Refusal::TooMany { what: "messages wait in this session", limit: 100 },
            Refusal::Overtaken.of_answer(HoldId::new(1, 1), 2),
            Refusal::Overtaken,
            fault(AnswerFault::TooLong { bytes_max: 9 }),
            fault(AnswerFault::FieldTooLong { field: "text".into(), bytes_max: 9 }),
            fault(AnswerFault::NothingSaid),
            fault(AnswerFault::NoContent),
            fault(AnswerFault::OtherKind { question: "approve", answer: "fill" }),
            fault(AnswerFault::NothingChosen),
            fault(AnswerFault::MoreThanOne),
            fault(AnswerFault::MoreThanThereAre),
            fault(AnswerFault::NotAnOption { text: "三".into() }),
            fault(AnswerFault::ChosenTwice),
            fault(AnswerFault::FormUnreadable),
            fault(AnswerFault::NotAsTheForm(misfits(json!({"姓名": 1})))),
            fault(AnswerFault::NotAsTheTool(misfits(json!({"数": 9.5, "组": [1, 1]})))),
            fault(AnswerFault::NotOneText),
            fault(AnswerFault::NoCallWaits),
            fault(AnswerFault::NoDigest),
            fault(AnswerFault::NoGrantHere),
        ];
        for refusal in refusals {
            let words = ChatWords(Language::Chinese);
            for text in
                [words.not_taken(&refusal), words.invalid("7", &refusal), words.refused(&refusal)]
            {
                assert!(!text.chars().any(|c| c.is_ascii_alphabetic()), "{refusal:?}: {text}");
            }
            let english = ChatWords(Language::English).not_taken(&refusal);
            assert_eq!(english, visible(&refusal.to_string()));
        }
    }
}
