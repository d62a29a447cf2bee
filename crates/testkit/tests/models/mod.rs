//! The real program on real model APIs: Anthropic Messages, OpenAI Chat Completions and OpenAI
//! Responses, as the strict fake of `testkit::fake_model` speaks them. It refuses whatever a vendor
//! would refuse, so a conversation that ends well was sound in every request.

mod bad_input;
mod cancel;
mod circle;
mod cuts;
mod interleavings;
mod parallel;
mod replay;
mod results;
mod stage;

pub(crate) use stage::{Stage, note, nothing};

/// The same test on each API.
macro_rules! on_each_api {
    ($($test:ident),* $(,)?) => {
        $crate::models::on_each_api!(@ anthropic Anthropic $($test)*);
        $crate::models::on_each_api!(@ chat Chat $($test)*);
        $crate::models::on_each_api!(@ responses Responses $($test)*);
    };
    (@ $name:ident $api:ident $($test:ident)*) => {
        mod $name {
            $(#[tokio::test]
            async fn $test() {
                Box::pin(super::$test(testkit::fake_model::Api::$api)).await;
            })*
        }
    };
}
pub(crate) use on_each_api;
