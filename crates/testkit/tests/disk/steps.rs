//! The power is cut at each step in turn: a disk that stops for ever after so many changes.

use std::time::Duration;

use testkit::binary::Binary;
use testkit::disk::{Loss, Lossy, Lost};
use testkit::rng::Rng;
use testkit::served::{PATIENCE, Served};
use tokio::time::{Instant, sleep};

use crate::disk::client::Client;
use crate::disk::{SCRIPT, config};

/// A server whose data, and nothing else, lies on a disk that forgets.
struct Unsafe {
    served: Served,
    lossy: Lossy,
    rng: Rng,
}

impl Unsafe {
    fn prepare() -> Unsafe {
        let mut lossy = Lossy::new(Binary::find());
        let config = config().replace("sqlite:data", "sqlite:disk/data");
        let served = Served::prepare_with(lossy.binary(), &config, SCRIPT);
        std::fs::create_dir(served.path("disk")).expect("a folder");
        lossy.watch(&served.path("disk"));
        Unsafe { served, lossy, rng: Rng::new(Rng::fresh_seed()) }
    }

    /// Every other cut takes all that was not synced.
    async fn cut(&mut self, number: usize) -> Lost {
        let loss = if number.is_multiple_of(2) { Loss::Everything } else { Loss::Some };
        let server = self.served.take();
        let lost = self.lossy.cut(server, loss, &mut self.rng).await;
        lost.unwrap_or_else(|why| panic!("{why}"))
    }

    /// The disk has come to a standstill.
    async fn stops_at(&self, steps: u64) {
        while self.lossy.steps() < steps {
            sleep(Duration::from_millis(2)).await;
        }
    }
}

#[tokio::test]
async fn disk_i10_i15_a_power_cut_at_any_step_of_a_cycle_loses_and_repeats_nothing() {
    let mut it = Unsafe::prepare();
    it.served.up().await;
    let client = Client::of(&it.served);
    let before = it.lossy.steps();
    assert_eq!(client.cycle("whole").await.effects, 1);
    let steps = it.lossy.steps() - before;
    let (mut lost, mut in_doubt, mut effects, mut cuts) = (Lost::default(), 0, 0, 0);
    for step in (1..steps).step_by(STRIDE) {
        let stop = it.lossy.steps() + step;
        it.lossy.stop_at(stop);
        let note = format!("step-{step}");
        let cycle = client.cycle(&note);
        let mut cycle = std::pin::pin!(cycle);
        let cycle = tokio::select! {
            cycle = &mut cycle => {
                it.lossy.stop_at(0);
                cycle
            }
            () = it.stops_at(stop) => {
                lost.add(it.cut(cuts).await);
                cuts += 1;
                it.served.up().await;
                cycle.await
            }
        };
        in_doubt += cycle.in_doubt;
        effects += cycle.effects;
    }
    eprintln!(
        "{steps} steps in a cycle; {cuts} cuts took {lost}; {in_doubt} in doubt, {effects} effects"
    );
    it.served.audited().await;
    assert!(cuts as u64 >= steps / STRIDE as u64 / 2, "{cuts} cuts of {steps} steps");
    assert!(lost.writes > 0 && lost.names > 0 && effects > 0, "{lost}; {effects} effects");
}

/// Not every step: they are many, and much alike.
const STRIDE: usize = 6;

#[tokio::test]
async fn disk_power_cuts_during_the_first_start_leave_something_that_starts() {
    let mut it = Unsafe::prepare();
    it.served.up().await;
    let steps = it.lossy.steps();
    let mut lost = Lost::default();
    for (number, step) in (1..steps).step_by((steps as usize / 8).max(1)).enumerate() {
        let mut it = Unsafe::prepare();
        it.lossy.stop_at(step);
        it.served.launch();
        let until = Instant::now() + PATIENCE;
        tokio::select! {
            () = it.stops_at(step) => {}
            () = tokio::time::sleep_until(until) => panic!("it never came to step {step}"),
        }
        lost.add(it.cut(number).await);
        it.served.up().await;
        assert_eq!(Client::of(&it.served).cycle("after").await.effects, 1);
    }
    eprintln!("{steps} steps in a first start; cuts took {lost}");
    assert!(lost.names > 0, "{lost}");
}
