//! One seed: some processes over one disk, people who want things, and whatever goes wrong. First it is
//! rough; then, in most stories, the faults stop, and everything must come to its end.

use std::sync::Arc;

use domain::id::NodeId;
use engine::Followed;

use super::chat::{board, gestures};
use super::crowd::{Errand, Request, Through, is_finished, wanted, whim};
use super::node::{Node, NodeNo};
use super::records::Seen;
use super::settings::{caller, setup};
use super::weather::Weather;
use super::world::{Standing, World};
use crate::rng::Rng;

/// How often people are asked once the faults have stopped; a story that needs more never ends.
const ERRANDS_MAX: u32 = 300;
/// How much time may pass, in waits of a minute: a clock that was a day ahead has put things off for a day.
const WAITS_MAX: u32 = 8_000;

pub(super) struct Story {
    pub(super) world: Arc<World>,
    pub(super) nodes: Vec<Node>,
    /// Processes that there should be.
    pub(super) size: usize,
    /// Somebody was ever taken for dead who was not.
    pub(super) had_zombies: bool,
    started: NodeNo,
    /// What was asked for under a key, and may be asked for again.
    keyed: Vec<Errand>,
    /// Where the follower listens.
    follower: Option<NodeNo>,
}

impl Story {
    pub(super) fn new(seed: u64, whole_trace: bool) -> Story {
        let mut rng = Rng::new(seed);
        let size = 1 + rng.below(3) as usize;
        let world = World::new(rng, whole_trace);
        // In the other half the engine is alone, and has more of the story. A chat service takes up what
        // an earlier process had in hand, so there is one process at a time.
        let has_chats = seed % 2 == 1;
        if has_chats {
            let mut inside = world.inside();
            inside.has_chats = true;
            inside.weather.chat = seed / 2 % 24;
            inside.weather.depose = 0;
        }
        let size = if has_chats { 1 } else { size };
        let mut story = Story {
            world,
            nodes: Vec::new(),
            size,
            had_zombies: false,
            started: 0,
            keyed: Vec::new(),
            follower: None,
        };
        for _ in 0..size {
            story.start_node();
        }
        story
    }

    /// People do what they like, and everything that can go wrong does.
    pub(super) fn rough(&mut self) {
        let has_chats = self.world.inside().has_chats;
        // Where there are chats, much of what happens is their doing.
        let steps = (300 + self.below(500)) * if has_chats { 2 } else { 1 };
        for _ in 0..steps {
            self.replace();
            self.trouble();
            let idle = self.next_due_in().is_none_or(|ms| ms > 1_500);
            // When nothing is about to happen, somebody usually does something first.
            if self.percent(if idle { 75 } else { 9 }) {
                self.somebody_acts();
            } else {
                self.advance();
            }
        }
    }

    /// The faults stop. Everything must finish, with people who do what they are asked.
    pub(super) fn calm(&mut self) -> Result<(), String> {
        {
            let mut inside = self.world.inside();
            inside.note("CALM");
            inside.weather = Weather::calm();
            inside.full_until = 0;
            inside.paused.clear();
        }
        // Whoever slept through its own replacement wakes up and tries to go on.
        self.quiet(2_000, 400);
        let zombies = self.nodes.iter().filter(|node| node.deposed || node.has_failed());
        for no in zombies.map(|node| node.no).collect::<Vec<_>>() {
            self.crash(no);
        }
        // What a zombie began after it was replaced is found by whoever starts after its end.
        if self.had_zombies {
            self.start_node();
        }
        while self.nodes.len() < self.size {
            self.start_node();
        }
        let mut asked = 0;
        for _ in 0..WAITS_MAX {
            self.quiet(5_000, 5_000);
            if is_finished(&self.world).is_ok() {
                return Ok(());
            }
            self.thaw();
            let errands = wanted(&self.world);
            if errands.is_empty() {
                // Nobody is asked for anything: time must do it.
                self.complete_next();
                continue;
            }
            asked += 1;
            if asked > ERRANDS_MAX {
                break;
            }
            for errand in errands {
                let at = self.below(self.nodes.len() as u64) as usize;
                self.serve(at, errand.into());
            }
        }
        is_finished(&self.world)
    }

    /// There is no word between nodes yet: whoever still takes it for frozen is told.
    fn thaw(&mut self) {
        for at in 0..self.nodes.len() {
            if self.nodes[at].engine().is_some_and(|engine| engine.frozen().is_some()) {
                self.serve(at, Errand::Thaw.into());
            }
        }
    }

    /// A follower that lost its server has everything once it has found another.
    pub(super) fn catch_up(&mut self) {
        self.follower = None;
        self.follow();
        self.quiet(1_000, 2_000);
    }

    fn somebody_acts(&mut self) {
        let in_a_chat = {
            let mut inside = self.world.inside();
            inside.has_chats && inside.rng.percent(60)
        };
        if in_a_chat {
            return self.somebody_presses();
        }
        let ready = self.those(|node| node.engine().is_some());
        // Where there is no server, nobody is asked for anything.
        if ready.is_empty() {
            return;
        }
        let mut before = None;
        for request in whim(&self.world, &self.keyed, ready.len()) {
            let at = match (request.through, before) {
                (Through::Same, Some(before)) => before,
                (Through::Another, Some(before)) => {
                    let others: Vec<usize> =
                        ready.iter().copied().filter(|at| *at != before).collect();
                    self.one_of(&others)
                }
                _ => self.one_of(&ready),
            };
            before = Some(at);
            let key = request.errand.key();
            if key.is_some() && self.keyed.iter().all(|earlier| earlier.key() != key) {
                self.keyed.push(request.errand.clone());
            }
            self.serve(at, request);
        }
    }

    fn those(&self, are: impl Fn(&Node) -> bool) -> Vec<usize> {
        (0..self.nodes.len()).filter(|at| are(&self.nodes[*at])).collect()
    }

    fn one_of(&self, ready: &[usize]) -> usize {
        ready[self.below(ready.len() as u64) as usize]
    }

    fn somebody_presses(&mut self) {
        let ready = self.those(|node| node.board().is_some());
        if ready.is_empty() {
            return;
        }
        let gestures = gestures(&mut self.world.inside());
        for gesture in gestures {
            let at = self.one_of(&ready);
            let world = self.world.clone();
            let node = &mut self.nodes[at];
            if let Some(board) = node.board().cloned() {
                node.serve(gesture.carry_out(world, node.no, board));
            }
        }
    }

    fn serve(&mut self, at: usize, request: Request) {
        let world = self.world.clone();
        let node = &mut self.nodes[at];
        if let Some(engine) = node.engine().cloned() {
            node.serve(request.carry_out(world, node.no, engine));
        }
    }

    /// Keeps one client on the log of everything, at whatever server it finds.
    fn follow(&mut self) {
        let is_there = |no: NodeNo| self.nodes.iter().any(|node| node.no == no);
        if self.follower.is_some_and(is_there) {
            return;
        }
        let Some(node) = self.nodes.iter_mut().find(|node| node.engine().is_some()) else { return };
        let Some(engine) = node.engine().cloned() else { return };
        self.follower = Some(node.no);
        let world = self.world.clone();
        node.serve(async move {
            loop {
                let after = world.inside().records.followed.last().map_or(0, |seen| seen.position);
                let Ok(mut follow) = engine.follow_all(&caller("root"), Some(after)).await else {
                    continue;
                };
                while let Ok(Some(next)) = follow.next().await {
                    if let Followed::Event(it) = next {
                        let seen = Seen {
                            position: it.position,
                            stream: it.stream,
                            event: it.event().clone(),
                        };
                        world.inside().records.followed.push(seen);
                    }
                }
            }
        });
    }

    // --- moving on

    /// One thing happens: a task goes on, or something that was waited for is there.
    pub(super) fn advance(&mut self) -> bool {
        self.follow();
        let runnable = self.runnable();
        if !runnable.is_empty() && self.percent(85) {
            let at = runnable[self.below(runnable.len() as u64) as usize];
            self.run(at);
            return true;
        }
        if self.complete_next() {
            return true;
        }
        match runnable.first() {
            Some(at) => {
                self.run(*at);
                true
            }
            None => false,
        }
    }

    fn run(&mut self, at: usize) {
        match self.percent(30) {
            true => self.nodes[at].step(),
            false => self.nodes[at].settle(),
        }
        if self.nodes[at].has_failed() {
            self.world.inside().fault("start failed");
            let no = self.nodes[at].no;
            self.crash(no);
        }
    }

    fn runnable(&self) -> Vec<usize> {
        let inside = self.world.inside();
        let may = |node: &Node| node.runnable && !inside.paused.contains(&node.no);
        (0..self.nodes.len()).filter(|at| may(&self.nodes[*at])).collect()
    }

    /// Ends the next wait; this is what makes the time pass.
    pub(super) fn complete_next(&mut self) -> bool {
        let over = {
            let mut inside = self.world.inside();
            let inside = &mut *inside;
            let paused = &inside.paused;
            let Some(over) = inside.waits.take_next(|no| !paused.contains(&no)) else {
                return false;
            };
            inside.now = inside.now.max(over.at);
            if over.overtook && matches!(over.what, "commit" | "reply" | "load") {
                inside.fault("replies reordered");
            }
            inside.note(format!("n{} {}", over.node, over.what));
            over
        };
        if let Some(waker) = over.waker {
            waker.wake();
        }
        if let Some(node) = self.nodes.iter_mut().find(|node| node.no == over.node) {
            node.runnable = true;
        }
        true
    }

    /// Goes on until nothing is due within so many milliseconds, or the steps are used up.
    fn quiet(&mut self, within_ms: u64, steps: usize) {
        for _ in 0..steps {
            let soon = self.next_due_in().is_some_and(|ms| ms <= within_ms);
            if self.runnable().is_empty() && !soon {
                return;
            }
            self.advance();
        }
    }

    fn next_due_in(&self) -> Option<u64> {
        if !self.runnable().is_empty() {
            return Some(0);
        }
        let inside = self.world.inside();
        let due = inside.waits.next_due(|no| !inside.paused.contains(&no))?;
        Some(due.saturating_sub(inside.now))
    }

    // --- processes

    pub(super) fn start_node(&mut self) {
        self.started += 1;
        let no = self.started;
        let id = {
            let mut inside = self.world.inside();
            let id = NodeId::new(0, inside.bits());
            inside.nodes.insert(id, Standing::Alive);
            let skew = inside.weather.skew_ms;
            if skew > 0 && self.size > 1 {
                let by = inside.rng.below(2 * skew) as i64 - skew as i64;
                inside.skew_ms.insert(no, by);
                inside.clocks_lied = true;
                if inside.skew_ms.values().any(|other| *other != by) {
                    inside.fault("clocks of nodes differ");
                }
            }
            inside.counts.nodes += 1;
            inside.note(format!("n{no} starts as {id}"));
            id
        };
        let setup = setup(&self.world, no, id);
        let (world, clock, rng) = (self.world.clone(), setup.clock.clone(), setup.rng.clone());
        let has_chats = self.world.inside().has_chats;
        let chats = move |engine| board(&world, no, engine, clock, rng);
        self.nodes.push(Node::start(no, id, setup, has_chats.then_some(chats)));
    }

    pub(super) fn below(&self, end: u64) -> u64 {
        self.world.inside().rng.below(end)
    }

    pub(super) fn percent(&self, likely: u64) -> bool {
        self.world.inside().rng.percent(likely)
    }
}
