//! What people do in chats, and what must come of it: the same stories on every platform, told to the real
//! program.
//!
//! A story knows no platform. It speaks to a [`Chat`](chat::Chat), which every fake is, and in the end asks
//! for the state of the world: one decision and whose, what ran and how often, what each card shows.

mod answered;
mod chat;
mod killed;
mod over;
mod platform;
mod refused;
mod repeated;
mod troubled;
mod world;

/// Every story on every platform.
macro_rules! stories {
    ($($file:ident: $($story:ident),+;)+) => {
        stories!(@on feishu, Feishu, $($file: $($story),+;)+);
        stories!(@on dingtalk, Dingtalk, $($file: $($story),+;)+);
        stories!(@on slack, Slack, $($file: $($story),+;)+);
        stories!(@on telegram, Telegram, $($file: $($story),+;)+);
    };
    (@on $platform:ident, $chat:ident, $($file:ident: $($story:ident),+;)+) => {
        mod $platform {
            $($(
                #[tokio::test]
                async fn $story() {
                    let chat = crate::scenarios::platform::$chat::start().await;
                    crate::scenarios::$file::$story(Box::new(chat)).await;
                }
            )+)+
        }
    };
}

stories! {
    answered:
        confirmed_with_a_button,
        denied_with_a_button,
        confirmed_in_words,
        cancelled_in_words,
        a_question_is_no_answer,
        two_at_once_are_answered_each_for_itself;
    refused:
        i31_the_wrong_person_decides_nothing,
        i31_words_in_another_chat_decide_nothing,
        i31_a_forwarded_card_is_dead,
        i31_an_edited_message_decides_nothing,
        i31_words_from_before_the_question_decide_nothing;
    repeated:
        i34_a_double_click_is_one_decision,
        i34_two_people_at_the_same_moment_make_one_decision,
        i34_delivered_a_hundred_times_is_done_once,
        i34_delivered_again_after_a_restart_is_done_once;
    over:
        i27_the_time_runs_out_and_that_is_no_denial,
        i37_answered_on_the_page_while_the_cards_are_open;
    killed:
        i35_killed_between_sending_and_writing_it_down,
        i35_killed_between_question_and_answer;
    troubled:
        i35_too_many_requests_neither_lose_nor_delay_a_decision,
        i35_errors_neither_lose_nor_delay_a_decision,
        i35_garbage_neither_loses_nor_delays_a_decision,
        i35_silence_neither_loses_nor_delays_a_decision;
}
