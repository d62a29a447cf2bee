//! Holdpoint inside a program, through its public face only.

mod built_in;
mod circle;
mod mistakes;
mod mounted;
mod people;
mod policy;
mod told;
mod tour;
mod world;
