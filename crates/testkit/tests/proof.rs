//! What is tried at length: simulated stories, kills of the real program, failing disks, hostile bytes.

mod crash;
mod disk;
mod fuzz;
mod sim;
