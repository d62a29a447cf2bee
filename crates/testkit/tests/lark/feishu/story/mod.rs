//! The real program with one or two apps of Feishu: what only Feishu has.

mod cards;
mod hooked;
mod people;
mod words;
mod world;
