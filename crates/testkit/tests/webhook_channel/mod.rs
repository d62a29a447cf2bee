//! A program that is told of holds and brings decisions, over real connections.

mod channel;
mod conforms;
mod feed;
mod house;
mod served;
mod times;
