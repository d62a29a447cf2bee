//! What a server asks people in the middle of a call.

use std::sync::Mutex;

use async_trait::async_trait;
use domain::answer::Answer;
use domain::hold::QuestionKind;
use ports::nested_question::{NestedAnswer, NestedAsker, NestedQuestion};
use serde_json::{Value, json};

use super::world::{World, succeeded};

/// Answers what it is asked, and remembers it.
struct Ana {
    says: NestedAnswer,
    asked: Mutex<Vec<NestedQuestion>>,
}

impl Ana {
    fn says(says: NestedAnswer) -> Ana {
        Ana { says, asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<NestedQuestion> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl NestedAsker for Ana {
    async fn ask(&self, asked: NestedQuestion) -> NestedAnswer {
        self.asked.lock().unwrap().push(asked);
        self.says.clone()
    }
}

const EVERY: [&[&str]; 4] = [&[], &["modern"], &["http"], &["modern", "http"]];

fn green() -> Ana {
    Ana::says(NestedAnswer::Given(Answer::Choose(vec!["green".into()])))
}

async fn told(world: &World, tool: &str, ana: &Ana) -> Value {
    serde_json::from_str(&succeeded(world.run_asking(tool, ana).await)).unwrap()
}

#[tokio::test]
async fn a_question_reaches_people_and_the_answer_the_server() {
    for habits in EVERY {
        let world = World::start(habits).await;
        let ana = green();
        let said = told(&world, "ask", &ana).await;
        assert_eq!(said, json!({"action": "accept", "content": {"colour": "green"}}), "{habits:?}");
        let asked = ana.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].title, "mcp asks: Which colour?");
        assert_eq!(asked[0].question.kind(), QuestionKind::Choose);

        let ana = green();
        told(&world, "ask_twice", &ana).await;
        assert_eq!(ana.asked().len(), 2, "{habits:?}");
        world.close().await;
    }
}

#[tokio::test]
async fn no_and_nobody_are_told_apart() {
    for habits in EVERY {
        let world = World::start(habits).await;
        let no = Ana::says(NestedAnswer::Given(Answer::Deny { reason: None, stop: false }));
        assert_eq!(told(&world, "ask", &no).await, json!({"action": "decline"}), "{habits:?}");
        let nobody = Ana::says(NestedAnswer::Nobody { why: "late".into() });
        assert_eq!(told(&world, "ask", &nobody).await, json!({"action": "cancel"}));
        world.close().await;
    }
}

#[tokio::test]
async fn i45_a_form_that_wants_a_secret_reaches_nobody() {
    for habits in EVERY {
        let world = World::start(habits).await;
        let ana = green();
        assert_eq!(told(&world, "secret", &ana).await, json!({"action": "cancel"}), "{habits:?}");
        assert!(ana.asked().is_empty());
        let ana = Ana::says(NestedAnswer::Given(Answer::Choose(vec!["1".into()])));
        assert_eq!(told(&world, "link", &ana).await, json!({"action": "accept"}));
        assert_eq!(ana.asked()[0].shown["link"], "https://login.example.com/x");
        world.close().await;
    }
}

#[tokio::test]
async fn with_two_calls_on_one_pipe_nobody_knows_whose_question_it_is() {
    let world = World::start(&[]).await;
    let (ana, ben) = (green(), green());
    let slow = world.host("slow");
    let slow = super::world::run(&slow, "{}", Some(&ben), Default::default());
    let asking = async {
        super::world::until(|| (!world.notes().is_empty()).then_some(())).await;
        told(&world, "ask", &ana).await
    };
    let (_, said) = tokio::join!(slow, asking);
    assert_eq!(said, json!({"action": "cancel"}));
    assert!(ana.asked().is_empty() && ben.asked().is_empty());
    world.close().await;
}
