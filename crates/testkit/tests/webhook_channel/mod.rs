//! A program that is told of holds and brings decisions, over real connections.

mod channel;
mod conforms;
mod feed;
mod served;
mod stage;
mod times;
