//! The script of `holdpoint demo`.

/// A complete script, also meant as an example to start from.
pub const DEMO_SCRIPT: &str = include_str!("demo.toml");

/// Each scenario's name, and what to say to the demo's agent to see it.
pub fn demo_scenarios() -> Vec<(&'static str, &'static str)> {
    vec![
        ("approve", "Delete the abandoned orders."),
        ("choose", "Which deployment strategy should we use?"),
        ("choose_many", "Which regions should get the release?"),
        ("fill", "Write the release note."),
        ("perform", "Where am I?"),
        ("two_phase", "Deploy my-app to Shipper Cloud."),
        ("parallel", "Ship the paid orders, and give customer-7 a discount."),
    ]
}

#[cfg(test)]
mod tests;
