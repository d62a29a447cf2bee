//! What goes wrong with processes, clocks and disks while the story goes on.

use domain::id::NodeId;
use ports::store::Commit;

use super::node::NodeNo;
use super::story::Story;
use super::world::Standing;

impl Story {
    /// At most one new trouble; and old ones end by themselves.
    pub(super) fn trouble(&mut self) {
        self.wake_somebody();
        let (weather, hurry) = {
            let inside = self.world.inside();
            (inside.weather.clone(), inside.is_in_the_middle())
        };
        if std::mem::take(&mut self.world.inside().asleep_at_work) && weather.depose > 0 {
            return self.depose();
        }
        // What matters happens between two steps of something, so that is when most goes wrong.
        let lot = self.below(if hurry { 400 } else { 2_000 });
        let mut below = 0;
        let mut drawn = |likely: u64| {
            below += likely;
            lot < below && lot >= below - likely
        };
        if drawn(weather.crash) {
            if let Some(no) = self.somebody(|_| true) {
                self.world.inside().fault("node crashed");
                self.crash(no);
            }
        } else if drawn(weather.power) {
            self.lose_power();
        } else if drawn(weather.pause) {
            let busy = self.executing().filter(|_| self.percent(60));
            let sleeper = busy.or_else(|| self.somebody(|_| true));
            if let (Some(no), false) = (sleeper, self.is_paused()) {
                {
                    let mut inside = self.world.inside();
                    inside.fault("node paused");
                    inside.paused.insert(no);
                }
                // Whoever is taken for dead in the middle of a call is the zombie to be afraid of.
                if busy.is_some() && weather.depose > 0 && self.percent(50) {
                    self.depose();
                }
            }
        } else if drawn(weather.depose) {
            self.depose();
        } else if drawn(weather.clock) {
            self.turn_the_clock();
        } else if drawn(weather.full) {
            let mut inside = self.world.inside();
            let for_ms = 20 + inside.rng.below(4_000);
            inside.full_until = inside.now + for_ms;
        }
    }

    fn is_paused(&self) -> bool {
        !self.world.inside().paused.is_empty()
    }

    /// A node that is in the middle of a call.
    fn executing(&self) -> Option<NodeNo> {
        let inside = self.world.inside();
        inside
            .executors
            .nodes()
            .find(|no| self.nodes.iter().any(|node| node.no == *no && !node.deposed))
    }

    fn somebody(&self, when: impl Fn(&Story) -> bool) -> Option<NodeNo> {
        if self.nodes.is_empty() || !when(self) {
            return None;
        }
        Some(self.nodes[self.below(self.nodes.len() as u64) as usize].no)
    }

    /// Starts what is missing, not always at once.
    pub(super) fn replace(&mut self) {
        let sound = self.nodes.iter().filter(|node| !node.deposed).count();
        if sound < self.size && self.percent(if sound == 0 { 50 } else { 6 }) {
            self.start_node();
        }
    }

    /// A process ends wherever it is. What it had sent to the disk may or may not be there.
    pub(super) fn crash(&mut self, no: NodeNo) {
        let Some(at) = self.nodes.iter().position(|node| node.no == no) else { return };
        let node = self.nodes.remove(at);
        for commit in self.take_under_way(no) {
            let is_refused = self.is_refused(node.id);
            if !is_refused && self.percent(45) {
                // Another may have been first; then the disk refuses it.
                if self.world.write(no, commit).is_ok() {
                    self.world.inside().fault("node crashed: a commit under way was written");
                }
            } else {
                self.world.inside().fault("node crashed: a commit under way was lost");
            }
        }
        self.bury(no, node.id);
        drop(node);
    }

    /// Every process ends at once; of what nobody was told of, the disk has a beginning.
    fn lose_power(&mut self) {
        if self.nodes.is_empty() {
            return;
        }
        self.world.inside().fault("power lost: every node down");
        let nodes = std::mem::take(&mut self.nodes);
        let mut tail: Vec<(NodeNo, Commit)> = Vec::new();
        for node in &nodes {
            let is_refused = self.is_refused(node.id);
            let its = self.take_under_way(node.no);
            tail.extend(its.into_iter().filter(|_| !is_refused).map(|commit| (node.no, commit)));
        }
        let survive = self.below(tail.len() as u64 + 1) as usize;
        for (position, (no, commit)) in tail.into_iter().enumerate() {
            if position < survive {
                if self.world.write(no, commit).is_ok() {
                    self.world.inside().fault("power lost: the unacknowledged tail survived");
                }
            } else {
                self.world.inside().fault("power lost: the unacknowledged tail was lost");
            }
        }
        for node in nodes {
            self.bury(node.no, node.id);
        }
    }

    fn is_refused(&self, id: NodeId) -> bool {
        let inside = self.world.inside();
        inside.standing(id) == Standing::Fenced || inside.now < inside.full_until
    }

    fn take_under_way(&self, no: NodeNo) -> Vec<Commit> {
        let mut inside = self.world.inside();
        let its: Vec<u64> =
            inside.under_way.iter().filter(|(_, (of, _))| *of == no).map(|(id, _)| *id).collect();
        its.into_iter().filter_map(|id| inside.under_way.remove(&id)).map(|it| it.1).collect()
    }

    fn bury(&self, no: NodeNo, id: NodeId) {
        let mut inside = self.world.inside();
        inside.last_effects(no);
        inside.nodes.insert(id, Standing::Gone);
        inside.paused.remove(&no);
        inside.note(format!("n{no} is dead"));
    }

    /// Somebody who sleeps is taken for dead, and another takes over.
    fn depose(&mut self) {
        let paused = self.world.inside().paused.clone();
        let sleeper = self.nodes.iter_mut().find(|node| paused.contains(&node.no) && !node.deposed);
        let Some(node) = sleeper else { return };
        node.deposed = true;
        let (no, id) = (node.no, node.id);
        self.had_zombies = true;
        {
            let mut inside = self.world.inside();
            let fenced = inside.rng.percent(50);
            inside.nodes.insert(id, if fenced { Standing::Fenced } else { Standing::Gone });
            inside.note(format!("n{no} is taken for dead, fenced off: {fenced}"));
        }
        self.start_node();
    }

    fn wake_somebody(&mut self) {
        let mut inside = self.world.inside();
        let Some(no) = inside.paused.first().copied() else { return };
        let replaced = self.nodes.iter().any(|node| node.no == no && node.deposed);
        // A node that was replaced sleeps for longer: one that wakes before its successor has looked at its calls meets no fence.
        if inside.rng.below(400) >= if replaced { 2 } else { 16 } {
            return;
        }
        inside.paused.remove(&no);
        inside.note(format!("n{no} wakes up"));
        if replaced {
            inside.fault("zombie: taken over while paused, then woken");
        }
    }

    fn turn_the_clock(&mut self) {
        let mut inside = self.world.inside();
        let span = *inside.rng.pick(&[1_000, 120_000, 2 * 3_600_000, 26 * 3_600_000]);
        let by = 1 + inside.rng.below(span) as i64;
        if inside.rng.percent(50) {
            inside.fault("clock jumped forward");
            inside.wall_ms += by;
        } else {
            inside.fault("clock jumped back");
            inside.clocks_lied = true;
            inside.wall_ms -= by;
        }
    }
}
