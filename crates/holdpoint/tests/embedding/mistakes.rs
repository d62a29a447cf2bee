//! Set-ups that make no sense are refused before anything is opened, and say what to change.

use std::time::Duration;

use holdpoint::prelude::*;

use crate::world::{Refund, Till, people, script, shop};

async fn check(builder: Builder, picture: &[&str]) {
    match builder.build().await {
        Ok(_) => panic!("it was built, and not refused: {picture:?}"),
        Err(BuildError::Mistakes(mistakes)) => assert_eq!(mistakes, picture),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn every_mistake_is_told_at_once() {
    let till = Till::default();
    let builder = Holdpoint::builder()
        .person(Person::new("ana").role("dba"))
        .person(Person::new("ana"))
        .person(Person::new("not a name"))
        .agent(Agent::new("ops", script()).tool(till.tool()).uses("refnd").uses("refund").turns(0))
        .agent(Agent::new("ops", script()))
        .rule(Rule::ask("changes", Whom::role("dab")));
    let mistakes = [
        "there are two people `ana`",
        "`not a name` cannot be the name of a person: use 1 to 64 letters and digits, and any of `._@-`",
        "nobody has the role `admin`; give it to somebody, who then gets the first login link",
        "rule `changes`: nobody has the role `dab`; mend the rule, or add a person",
        "agent `ops`: `turns` is between 1 and 200",
        "agent `ops`: there is no tool `refnd`; did you mean `refund`?",
        "agent `ops`: the tool `refund` is listed twice",
        "there are two agents `ops`",
    ];
    check(builder, &mistakes).await;
}

#[tokio::test]
async fn budgets_of_nothing_are_refused() {
    let budgets =
        Budgets { tokens: Some(0), money: Some(0), time_ms: Some(0), ..Budgets::default() };
    let builder = Holdpoint::builder()
        .person(Person::new("ana").role("admin"))
        .agent(Agent::new("ops", script()).budgets(budgets));
    let mistakes = [
        "agent `ops`: `tokens` is more than nothing; leave it out for no bound",
        "agent `ops`: `money` is more than nothing; leave it out for no bound",
        "agent `ops`: `time_ms` is more than nothing; leave it out for no bound",
        "agent `ops`: a budget of `money` needs to know what the model costs: `prices`",
    ];
    check(builder, &mistakes).await;
}

#[tokio::test]
async fn questions_that_nobody_could_answer_are_refused() {
    let till = Till::default();
    let with = |rule: Rule| shop(&till).rule(rule);
    let ask = |whom: Whom| Rule::ask("r", whom);
    for (rule, mistake) in [
        (
            ask(Whom::role("finence")),
            "rule `r`: nobody has the role `finence`; did you mean `finance`?",
        ),
        (ask(Whom::person("eve")), "rule `r`: there is no person `eve`; did you mean `eva`?"),
        (
            ask(Whom::role("finance").quorum(3)),
            "rule `r`: it needs 3 people, and only 2 could answer",
        ),
        (
            ask(Whom::role("finance").quorum(0)),
            "rule `r`: a quorum of 0 would approve by itself; it is at least 1",
        ),
        (
            ask(Whom::role("finance").expires(Duration::ZERO)),
            "rule `r`: a question that expires at once cannot be answered",
        ),
        (Rule::allow("r").when("/a", Is::less_than("x")), "rule `r`: `less_than` takes a number"),
        (
            Rule::deny("money needs finance"),
            "rule `money needs finance`: another rule has the same name",
        ),
    ] {
        check(with(rule), &[mistake]).await;
    }
}

#[tokio::test]
async fn tools_that_could_not_be_called_are_refused() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Confirmed {
        confirmed: bool,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Odd {
        #[schemars(extend("pattern" = "("))]
        text: String,
    }
    let agent =
        |tool: Tool| people(Holdpoint::builder()).agent(Agent::new("a", script()).tool(tool));
    let list = Tool::from_fn("list", "l", |_: Vec<u8>, _| async { Ok(()) });
    check(
        agent(list.into()),
        &["tool `list`: its arguments must be an object: use a struct with named fields"],
    )
    .await;
    let two = Tool::from_fn("two", "t", |_: Confirmed, _| async { Ok(()) }).two_phase();
    check(
        agent(two.into()),
        &["tool `two`: a two-phase tool gets the argument `confirmed` from us; take the field out"],
    )
    .await;
    let named = Tool::from_fn("pay back", "p", |_: Refund, _| async { Ok(()) });
    let mistake =
        "`pay back` cannot be the name of a tool: use 1 to 64 letters and digits, and any of `._-`";
    check(agent(named.into()), &[mistake]).await;
    let odd = Tool::from_fn("odd", "o", |_: Odd, _| async { Ok(()) });
    let BuildError::Mistakes(mistakes) = agent(odd.into()).build().await.err().unwrap() else {
        panic!("it is a mistake");
    };
    assert!(mistakes[0].starts_with("tool `odd`: the schema cannot be used"), "{mistakes:?}");
    let twice = shop(&Till::default()).tool(Till::default().tool());
    check(twice, &["there are two tools `refund`; clone one, or let agents use it by name"]).await;
}

#[tokio::test]
async fn a_folder_that_somebody_else_has_open_is_not_shared() {
    let data = tempfile::tempdir().unwrap();
    let till = Till::default();
    let first = shop(&till).data(data.path()).build().await.unwrap();
    let second = shop(&till).data(data.path()).build().await.err().unwrap();
    assert!(matches!(second, BuildError::Unready(_)), "{second}");
    assert!(second.to_string().contains("another"), "{second}");
    first.close(Duration::from_secs(1)).await;
    shop(&till).data(data.path()).build().await.unwrap();
}
