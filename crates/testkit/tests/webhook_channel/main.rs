//! A program that is told of holds and brings decisions, over real connections.

mod channel;
mod feed;
mod house;
mod times;
