//! The same thing more than once.

use futures_util::future::{join, join_all};
use testkit::served::words;

use crate::scenarios::chat::{Button, Chat, Event, Who};
use crate::scenarios::world::{End, World};

pub(crate) async fn i34_a_double_click_is_one_decision(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    // Two presses, both on their way before either is answered.
    let presses = [(); 2].map(|()| world.chat.pressed(Who::Ana, &asked.home, Button::Allow));
    let [first, second] = &presses;
    join(world.chat.deliver(first), world.chat.deliver(second)).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    for press in &presses {
        let told = world.chat.told(press).unwrap_or_default();
        assert!(!told.contains("may not") && !told.contains("here"), "no refusal: {told}");
    }
}

pub(crate) async fn i34_two_people_at_the_same_moment_make_one_decision(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    let yes = world.chat.pressed(Who::Ana, &asked.home, Button::Allow);
    let no = world.chat.pressed(Who::Cat, &asked.watch, Button::Deny);
    join(world.chat.deliver(&yes), world.chat.deliver(&no)).await;
    let decided = world.hold_about("alpha").await;
    let (end, loser) = match decided["decision"]["by"].as_str() {
        Some("ana") => (End::Approved(Who::Ana), &no),
        Some("cat") => (End::Denied(Who::Cat), &yes),
        other => panic!("somebody decided: {other:?}"),
    };
    let told = world.told(loser).await;
    assert!(told.contains(&end.words()), "the one who lost hears who won: {told}");
    world.ended(&asked, end).await;
}

pub(crate) async fn i34_delivered_a_hundred_times_is_done_once(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let said = world.write(Who::Ana, "note alpha").await;
    let asked = world.asked("alpha").await;
    a_hundred_times(&world, &said).await;
    world.waits(&asked).await;
    let press = world.press(Who::Ana, &asked.home, Button::Allow).await;
    a_hundred_times(&world, &press).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    let second = world.ask("bravo").await;
    let no = world.write(Who::Cat, "cancel").await;
    a_hundred_times(&world, &no).await;
    world.ended(&second, End::Denied(Who::Cat)).await;
    assert_eq!(world.holds().await.len(), 2, "two questions, however often they were asked for");
    assert_eq!(world.times("denied by Cat"), 1, "and one reply");
    assert_eq!(words(&world.session().await, "user"), ["note alpha", "note bravo"]);
}

/// All of them on their way at once: a platform that delivers again does not wait for us.
async fn a_hundred_times(world: &World, event: &Event) {
    join_all((0..100).map(|_| world.chat.deliver(event))).await;
}

pub(crate) async fn i34_delivered_again_after_a_restart_is_done_once(chat: Box<dyn Chat>) {
    let mut world = World::start(chat).await;
    let said = world.write(Who::Ana, "note alpha").await;
    let asked = world.asked("alpha").await;
    world.killed_and_started().await;
    world.chat.deliver(&said).await;
    world.waits(&asked).await;
    let yes = world.write(Who::Ana, "confirm").await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    world.killed_and_started().await;
    for event in [&said, &yes] {
        world.chat.deliver(event).await;
    }
    let second = world.ask("bravo").await;
    let press = world.press(Who::Cat, &second.watch, Button::Deny).await;
    world.ended(&second, End::Denied(Who::Cat)).await;
    world.killed_and_started().await;
    for event in [&press, &yes, &said] {
        world.chat.deliver(event).await;
    }
    world.ended(&second, End::Denied(Who::Cat)).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    assert_eq!(world.holds().await.len(), 2, "two questions");
    assert_eq!(words(&world.session().await, "user"), ["note alpha", "note bravo"]);
}
