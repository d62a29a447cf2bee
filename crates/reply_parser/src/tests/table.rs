//! More cases, by hand: the steps before the words, and what they must not let through.

use super::super::{ExpectedReply, ReplyContext, parse_reply};
use super::with_code;

#[track_caller]
fn check(context: &ReplyContext, cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        let verdict = parse_reply(text, context);
        assert_eq!(&format!("{} {}", verdict.name(), verdict.reason_name()), wanted, "{text:?}");
    }
}

#[test]
fn pictures() {
    check(
        &ReplyContext::default(),
        &[
            ("👍", "confirm emoji"),
            ("👍🏽 ✅", "confirm emoji"),
            ("🙅\u{200d}♀\u{fe0f}", "cancel emoji"),
            ("👍👎", "ambiguous mixed"),
            ("🚀", "ambiguous empty"),
            ("", "ambiguous empty"),
            ("...", "ambiguous empty"),
            ("no 👍", "ambiguous mixed"),
            ("yes ❓", "ambiguous question"),
            ("yes ⁉", "ambiguous question"),
        ],
    );
    let strict = ReplyContext { weak_ok: false, ..ReplyContext::default() };
    check(&strict, &[("👍", "ambiguous weak"), ("👎", "cancel emoji"), ("yes 👍", "confirm word")]);
    check(&with_code(), &[("👍", "ambiguous weak"), ("👍 7k3f", "confirm code")]);
    let choice = ReplyContext::choice(["A", "B"], false);
    check(
        &choice,
        &[("👍", "ambiguous weak"), ("👎", "cancel emoji"), ("2 ❌", "ambiguous mixed")],
    );
}

#[test]
fn names_and_attachments() {
    let context = ReplyContext {
        mentions: vec!["@_user_1".into(), "<@U0>".into()],
        ..ReplyContext::default()
    };
    check(
        &context,
        &[
            ("@_user_1 确认", "confirm word"),
            ("<@U0> no", "cancel word"),
            ("@_user_1", "ambiguous empty"),
            ("@_user_2 确认", "ambiguous other_mention"),
            ("@_user_1 @_user_2 确认", "ambiguous other_mention"),
            ("@_user_12 确认", "ambiguous other_mention"),
            ("<@U1> yes", "ambiguous other_mention"),
            ("@_user_1\u{202e} yes", "ambiguous bidi"),
            ("确认@张三", "ambiguous unknown"),
        ],
    );
    let context = ReplyContext { attachment: true, ..ReplyContext::default() };
    check(&context, &[("yes", "ambiguous attachment"), ("no", "ambiguous attachment")]);
}

#[test]
fn commands() {
    check(
        &ReplyContext::default(),
        &[
            ("/approve", "confirm word"),
            ("/APPROVE please", "confirm word"),
            ("/yes, thanks", "confirm word"),
            ("/approve but later", "ambiguous unknown"),
            ("/deny", "cancel slash"),
            ("/no!", "cancel slash"),
            ("/reject please", "cancel word"),
            ("/deny the allegations", "ambiguous unknown"),
            ("/deny 👍", "ambiguous mixed"),
            ("/approve?", "ambiguous command"),
            ("/help", "ambiguous command"),
            ("／approve", "confirm word"),
        ],
    );
    check(
        &with_code(),
        &[("/approve", "ambiguous code_required"), ("/approve 7K3F", "confirm word")],
    );
    let reserved = ReplyContext { reserved: vec!["cancel".into()], ..ReplyContext::default() };
    check(&reserved, &[("/cancel", "ambiguous unknown"), ("/deny", "cancel slash")]);
}

#[test]
fn length_is_counted_in_characters() {
    let padded = |count: usize| format!("{}yes", " ".repeat(count));
    check(
        &ReplyContext::default(),
        &[(&padded(117), "confirm word"), (&padded(118), "ambiguous too_long")],
    );
}

#[test]
fn codes() {
    check(
        &with_code(),
        &[
            ("7k3f", "confirm code"),
            ("７Ｋ３Ｆ", "confirm code"),
            ("7K3F 7K3F", "confirm code"),
            ("确认, 7K3F", "confirm word"),
            ("确认 7K3G 7K3F", "ambiguous bad_code"),
            ("cancel 7K3G", "cancel word"),
            ("don't 7K3G", "cancel word"),
            ("7K3F ❌", "ambiguous mixed"),
            ("ok 7K3F", "confirm word"),
            ("7K3F?", "ambiguous question"),
            ("yes 1234", "ambiguous bad_code"),
            ("不要确认 7K3F", "cancel negated"),
        ],
    );
    let numbered = ReplyContext { asked: ExpectedReply::Confirm { numbered: true }, ..with_code() };
    check(&numbered, &[("1", "ambiguous code_required"), ("2", "cancel number")]);
}

#[test]
fn reserved_words() {
    let reserved = ["cancel", "取消"].map(String::from).to_vec();
    let context = ReplyContext { reserved, ..ReplyContext::default() };
    check(
        &context,
        &[
            ("cancel it", "ambiguous unknown"),
            ("取消", "ambiguous unknown"),
            ("确认取消", "ambiguous unknown"),
            ("不要取消", "ambiguous unknown"),
            ("don't cancel", "ambiguous unknown"),
            ("no", "cancel word"),
            ("approve", "confirm word"),
        ],
    );
}

#[test]
fn the_words_around_an_answer() {
    check(
        &ReplyContext::default(),
        &[
            ("thanks", "ambiguous ack"),
            ("谢谢", "ambiguous ack"),
            ("yes\nplease", "confirm word"),
            ("yes: go ahead", "confirm word"),
            ("yes,👍", "confirm word"),
            ("好👍的", "ambiguous unknown"),
            ("1👍2", "ambiguous unknown"),
            ("先不要执行", "ambiguous hold"),
            ("sí, por favor", "confirm word"),
            ("s'il vous plaît, allez-y", "ambiguous request"),
            ("je ne confirme pas", "cancel negated"),
            ("ich bestätige nicht", "cancel negated"),
            ("하지 마", "cancel word"),
            ("y\u{336}e\u{336}s\u{336}", "ambiguous unknown"),
            ("yes‽", "ambiguous unknown"),
            ("+1", "ambiguous unknown"),
            ("k", "ambiguous unknown"),
            ("fine", "ambiguous unknown"),
            ("继续", "ambiguous unknown"),
            ("大丈夫", "ambiguous unknown"),
            ("not ok", "cancel negated"),
            ("ok not", "ambiguous unknown"),
        ],
    );
}

#[test]
fn two_numbers_with_a_picture_between_them_are_not_one() {
    let options: Vec<String> = (1..=12).map(|n| format!("Option {n}")).collect();
    let one = ReplyContext::choice(options.clone(), false);
    check(
        &one,
        &[
            ("1\u{fe0f}\u{20e3}2\u{fe0f}\u{20e3}", "ambiguous unknown"),
            ("①②", "ambiguous unknown"),
            ("1👍2", "ambiguous unknown"),
            ("1🎉2", "ambiguous unknown"),
            ("⑫", "choice number"),
            ("2\u{fe0f}\u{20e3}", "choice number"),
            ("12", "choice number"),
        ],
    );
    let several = ReplyContext::choice(options, true);
    check(&several, &[("①②", "choice multi"), ("1\u{20e3}2\u{20e3}", "choice multi")]);
    let labels = ReplyContext::choice(["方案①a", "方案②a"], false);
    check(&labels, &[("方案②a", "choice label")]);
}
