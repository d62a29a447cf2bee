//! Channels, for admins: what there is, what went wrong, and a test.

use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::asked::{ChangeRequest, bytes, json};
use crate::auth::Who;
use crate::channel_board::TestNotSent;
use crate::problem::{Problem, Reply};
use crate::wire;

pub(crate) async fn list(State(app): State<App>, who: Who) -> Reply {
    who.caller.must_be_admin()?;
    let channels = app.channels.board().map(|board| board.channels()).unwrap_or_default();
    let failures = app.engine.channel_failures(&who.caller).await?;
    let items = channels.iter().map(|info| wire::ConfiguredChannel::of(info, &failures)).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::ConfiguredChannel> { items, next: None }))
}

pub(crate) async fn test(
    State(app): State<App>,
    asked: ChangeRequest<wire::ChannelTestBody>,
) -> Reply {
    let caller = &asked.who.caller;
    caller.must_be_admin()?;
    let person = caller.must_be_person()?.id().clone();
    let channel = asked.body.channel.clone();
    let unknown = || Problem::invalid("channel", "there is no such channel");
    let board = app.channels.board().ok_or_else(unknown)?;
    if !board.channels().iter().any(|info| info.name == channel) {
        return Err(unknown().into());
    }
    let act = async {
        app.previews.take(&caller.stable_name(), app.engine.now()).map_err(|seconds| {
            Problem::too_many("tests are sent faster than anybody reads them", seconds)
        })?;
        match board.send_test(&person, &channel).await {
            Ok(()) => {
                let to = person.to_string();
                Ok((StatusCode::OK, bytes(&wire::ChannelTested { sent: true, to })))
            }
            Err(TestNotSent::SetUp(why)) => Err(Problem::invalid("channel", why).into()),
            Err(TestNotSent::Later(why)) => Err(Problem::unavailable(why, 5).into()),
        }
    };
    Box::pin(app.recent.once(asked.key.as_ref(), false, act)).await
}
