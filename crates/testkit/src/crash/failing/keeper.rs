//! Starts servers with orders to fail, and the next one when one has failed as it was told to.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;

use tokio::time::timeout;

use super::log::PointLog;
use crate::binary::{Binary, Server};
use crate::crash::phases::Follower;
use crate::crash::world::{START_WITHIN, World};
use crate::crash::{STOP_WITHIN, checks};

const SIGKILL: i32 = 9;

pub(super) struct Keeper<'a> {
    world: &'a World,
    failing: Binary,
    /// For the starts to come. When there are none left, the program that ships is started.
    orders: VecDeque<String>,
    follower: Follower,
    pub(super) deaths: u64,
    pub(super) wrong: Vec<String>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(world: &'a World, orders: impl IntoIterator<Item = String>) -> Keeper<'a> {
        Keeper {
            world,
            failing: Binary::failing(),
            orders: orders.into_iter().collect(),
            follower: Follower::default(),
            deaths: 0,
            wrong: Vec::new(),
        }
    }

    pub(super) fn file(world: &World) -> PathBuf {
        world.folder().join("points.log")
    }

    pub(super) fn log(&self) -> PointLog {
        PointLog::read(&Keeper::file(self.world))
    }

    /// A server that takes requests, after however many that died on the way there.
    pub(super) async fn ready(&mut self) -> Result<Server, String> {
        loop {
            let mut server = self.start();
            let Err(why) = server.ready(&self.world.api, START_WITHIN).await else {
                return Ok(server);
            };
            let ended = timeout(STOP_WITHIN, server.ended()).await.map_err(|_| why)?;
            match self.gave_up(&server, ended) {
                true => self.deaths += 1,
                false => self.bury(&server, ended)?,
            }
        }
    }

    fn start(&mut self) -> Server {
        let Some(order) = self.orders.pop_front() else {
            return self.world.start();
        };
        // Where it came past tells what it can have begun.
        let order = format!("trace,{order}");
        let log = Keeper::file(self.world).display().to_string();
        let told = [
            ("HOLDPOINT_FAIL", order.as_str()),
            ("HOLDPOINT_FAIL_LOG", log.as_str()),
            // One thread stands still at a fail point, and others must be able to get ahead of it.
            ("TOKIO_WORKER_THREADS", "4"),
        ];
        self.world.start_as(&self.failing, &told)
    }

    /// A server whose store fails while it starts takes no request and ends with an error: it is not killed, and the
    /// next one starts.
    fn gave_up(&self, server: &Server, status: ExitStatus) -> bool {
        let pid = server.started_as();
        let failed = self.log().acts.iter().any(|act| act.pid == pid && act.act == "error");
        failed && status.code() == Some(1)
    }

    /// It must have died as it was told to; and then nothing may have begun that is not announced.
    pub(super) fn bury(&mut self, server: &Server, status: ExitStatus) -> Result<(), String> {
        let pid = server.started_as();
        let acts = self.log().acts;
        if !acts.iter().any(|act| act.pid == pid && act.act == "kill") {
            let words = server.last_words();
            return Err(format!("the server ended by itself ({status}): {words}"));
        }
        if status.signal() != Some(SIGKILL) {
            return Err(format!("the server should have been killed, and ended with {status}"));
        }
        self.deaths += 1;
        self.follower.read_on(&self.world.database())?;
        self.wrong.extend(checks::begun(&self.world.begun(), &self.follower.facts));
        Ok(())
    }

    /// Stops a server that may still have orders, and starts one that has none.
    pub(super) async fn calm(&mut self, mut server: Server) -> Result<Server, String> {
        self.orders.clear();
        server.signal(nix::sys::signal::Signal::SIGTERM)?;
        let ended = timeout(STOP_WITHIN, server.ended()).await;
        let status = ended.map_err(|_| format!("it does not stop: {}", server.last_words()))?;
        if !status.success() {
            self.bury(&server, status)?;
        }
        self.ready().await
    }
}
