//! The engine over real stores, with a model and tools that tests hold in their hands.

mod boxes;
mod budgets;
mod chats;
mod circle;
mod confined;
mod crash;
mod deadlines;
mod faults;
mod faulty;
mod follow;
mod forget;
mod freeze;
mod hang_up;
mod model_cannot;
mod nodes;
mod recovery;
mod replay;
mod risk;
mod secrets;
mod several;
mod start_gate;
mod world;
