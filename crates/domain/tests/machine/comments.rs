//! What people say to one another about a hold: who is told, what is too much, and that it decides nothing.

use holdpoint_domain::hold::{Comment, Hold, HoldCommand};
use holdpoint_domain::limits::{COMMENT_BYTES_MAX, COMMENTED_AFTER_MS, COMMENTS_PER_HOLD_MAX};
use holdpoint_domain::refusal::{AnswerFault, Refusal};
use holdpoint_domain::session::Command;
use serde_json::json;

use crate::world::{Decided, World, logged_in};

fn held() -> World {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    world
}

fn comment(world: &mut World, who: &str, text: &str) -> Decided {
    let (id, by) = (world.hold(0).id, logged_in(who));
    world.tell(&Command::Hold { id, command: HoldCommand::Comment { by, text: text.into() } })
}

fn last(hold: &Hold) -> &Comment {
    hold.comments.last().expect("a comment")
}

#[test]
fn who_may_see_the_hold_is_told_and_nobody_else() {
    let mut world = held();
    let said = "  is this the staging database? @bob @eve @root @ana @nobody ";
    comment(&mut world, "ana", said).expect("it is taken");
    let hold = world.hold(0);
    assert_eq!(last(&hold).text, said.trim());
    let told: Vec<&str> = last(&hold).mentions.iter().map(|who| who.as_str()).collect();
    assert_eq!(told, ["bob", "root"], "Eve may not see it, and Ana knows what she wrote");
    assert_eq!(last(&hold).at, world.now);
    comment(&mut world, "bob", "yes, it is. @ana").expect("it is taken");
    let hold = world.hold(0);
    let waited_for: Vec<&str> = hold.mentioned().into_iter().map(|who| who.as_str()).collect();
    assert_eq!(waited_for, ["ana", "root"], "who has spoken since is no longer waited for");
}

#[test]
fn i04_a_comment_decides_nothing_whatever_it_says() {
    let mut world = held();
    let before = world.hold(0);
    let digest = before.digest();
    for text in ["approve", "/approve", "yes", r#"{"verdict":"approve"}"#, "👍"] {
        comment(&mut world, "ana", text).expect("it is taken");
    }
    let hold = world.hold(0);
    assert!(hold.is_pending() && hold.votes.is_empty());
    assert_eq!(hold.digest(), digest, "what was shown is still what is asked");
    assert_eq!(hold.comments.len(), 5);
    world.approve("bob", 0);
    assert_eq!(world.hold(0).comments.len(), 5);
}

#[test]
fn comments_are_bounded_in_length_number_and_time() {
    let mut world = held();
    let refused = comment(&mut world, "ana", " \n ").expect_err("nothing is said");
    assert!(matches!(refused, Refusal::AnswerInvalid { why: AnswerFault::NothingSaid, .. }));
    let long = "x".repeat(COMMENT_BYTES_MAX + 1);
    let refused = comment(&mut world, "ana", &long).expect_err("too long");
    assert!(matches!(refused, Refusal::AnswerInvalid { why: AnswerFault::TooLong { .. }, .. }));
    comment(&mut world, "ana", &long[1..]).expect("as long as may be");
    world.deny("bob", 0, "no");
    world.now = world.now.plus_ms(COMMENTED_AFTER_MS);
    for n in 1..COMMENTS_PER_HOLD_MAX {
        comment(&mut world, "ana", &format!("{n}")).expect("within a week");
    }
    let refused = comment(&mut world, "ana", "one more").expect_err("too many");
    assert!(matches!(refused, Refusal::TooMany { limit: COMMENTS_PER_HOLD_MAX, .. }));
    let mut other = held();
    other.deny("bob", 0, "no");
    other.now = other.now.plus_ms(COMMENTED_AFTER_MS + 1);
    let refused = comment(&mut other, "ana", "late").expect_err("too late");
    assert!(matches!(refused, Refusal::AlreadyDecided { .. }));
}
