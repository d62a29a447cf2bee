//! When a turn is taken. All conditions of a `when` must hold.

use regex::Regex;

use super::scene::Scene;

/// What a turn waits for.
#[derive(Debug)]
pub(super) enum When {
    Always,
    All(Box<Conditions>),
}

#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) says: Option<Says>,
    pub(super) turn: Option<usize>,
    pub(super) result_of: Option<String>,
    pub(super) result: Option<TextMatch>,
    pub(super) is_error: Option<bool>,
    pub(super) after_tools: Option<Vec<String>>,
}

pub(super) type Says = TextMatch;

#[derive(Debug)]
pub(super) enum TextMatch {
    Is(String),
    Contains(String),
    Matches(Regex),
}

impl When {
    /// What the patterns captured, if the scene fits.
    pub(super) fn fits(&self, scene: &Scene<'_>) -> Option<Vec<String>> {
        match self {
            When::Always => Some(Vec::new()),
            When::All(conditions) => conditions.fit(scene),
        }
    }
}

impl Conditions {
    /// Whether it is about results. Without that, `says` is about the message just written, and a
    /// turn that makes a call is not taken again when the call's result comes in.
    pub(super) fn about_results(&self) -> bool {
        self.result_of.is_some()
            || self.result.is_some()
            || self.is_error.is_some()
            || self.after_tools.is_some()
    }

    fn fit(&self, scene: &Scene<'_>) -> Option<Vec<String>> {
        if self.turn.is_some_and(|turn| turn != scene.turn) {
            return None;
        }
        if self.about_results() == scene.results.is_empty() && self.turn.is_none() {
            return None;
        }
        let mut captures = Vec::new();
        if let Some(says) = &self.says {
            captures.extend(says.fits(scene.said)?);
        }
        if let Some(tools) = &self.after_tools {
            let came: Vec<&str> = scene.results.iter().map(|result| &*result.tool).collect();
            if came != *tools {
                return None;
            }
        }
        if self.result_of.is_some() || self.result.is_some() || self.is_error.is_some() {
            captures.extend(scene.results.iter().find_map(|result| {
                let of = self.result_of.as_ref().is_none_or(|tool| *tool == *result.tool);
                let error = self.is_error.is_none_or(|is_error| is_error == result.is_error);
                let text = match &self.result {
                    Some(text) => text.fits(&result.content),
                    None => Some(Vec::new()),
                };
                text.filter(|_| of && error)
            })?);
        }
        Some(captures)
    }
}

impl TextMatch {
    /// People do not type alike, so letter case and outer white space do not count, except to a
    /// pattern, which can say `(?i)` itself.
    pub(super) fn fits(&self, text: &str) -> Option<Vec<String>> {
        let fold = |text: &str| text.trim().to_lowercase();
        match self {
            TextMatch::Is(wanted) => (fold(wanted) == fold(text)).then(Vec::new),
            TextMatch::Contains(wanted) => fold(text).contains(&fold(wanted)).then(Vec::new),
            TextMatch::Matches(pattern) => {
                let found = pattern.captures(text)?;
                let groups = found.iter().skip(1);
                Some(groups.map(|group| group.map_or("", |g| g.as_str()).to_owned()).collect())
            }
        }
    }

    pub(super) fn groups(&self) -> usize {
        match self {
            TextMatch::Is(_) | TextMatch::Contains(_) => 0,
            TextMatch::Matches(pattern) => pattern.captures_len() - 1,
        }
    }
}
