//! What happens while something else is under way.

use std::time::Duration;

use ports::channel::{ButtonAction, PressReply};

use crate::chat::Fault;
use crate::world::World;

#[tokio::test]
async fn i37_what_changes_while_a_card_is_drawn_is_drawn_after_it() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    world.chat.text("I will.").await;
    world.other.card("pending").await;
    // The platform draws the first vote, and says so late.
    world.chat.will([Fault::Slow(Duration::from_secs(5))]);
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Counted(_)));
    // The answer to the press has the card to itself for a moment.
    world.clock.advance(Duration::from_secs(1));
    world.chat.painted_times(2).await;
    // Meanwhile it is decided and carried out; another platform shows that already.
    assert!(matches!(world.press("ana", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.other.card("approved+succeeded").await;
    world.in_time(world.chat.card("approved+succeeded")).await;
}
