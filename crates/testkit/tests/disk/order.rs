//! The order in which things reach the disk, the tool and the caller, as the kernel saw it.

use std::time::Duration;

use testkit::disk::{Fault, SYNCS, Strace, Trace};
use testkit::served::Served;
use tokio::time::Instant;

use crate::disk::client::Client;
use crate::disk::{SCRIPT, approval, config, one_hold};

const WAL: &str = "holdpoint.db-wal";

async fn traced_cycle() -> Trace {
    let served = Served::start(&config(), SCRIPT).await;
    let log = served.log().with_file_name("strace");
    let calls = "execve,fdatasync,fsync,pwrite64,write,writev,sendto,link,linkat,rename";
    let strace = Strace::attach(served.id(), calls, &[], &[], &log).await;
    let cycle = Client::of(&served).cycle("traced").await;
    assert_eq!((cycle.effects, cycle.refused, cycle.in_doubt), (1, 0, 0));
    strace.detach().await
}

/// The line at which the first write of this text to the database's log was safe.
fn safe(trace: &Trace, text: &str) -> usize {
    let write = trace.of("pwrite64").find(|call| call.is_on(WAL) && call.arguments.contains(text));
    let write = write.unwrap_or_else(|| panic!("`{text}` was never written to the log"));
    let sync = trace.syncs(WAL).find(|sync| sync.began > write.ended);
    sync.unwrap_or_else(|| panic!("`{text}` was written and never synced: {write:?}")).ended
}

/// The line at which a caller began to be told this.
fn told(trace: &Trace, text: &str) -> usize {
    let sends = trace.calls.iter().filter(|call| {
        matches!(call.name.as_str(), "sendto" | "writev" | "write")
            && call.arguments.contains("HTTP/1.1 ")
    });
    let mut sends = sends.filter(|call| call.arguments.contains(text));
    sends.next().unwrap_or_else(|| panic!("nobody was told `{text}`")).began
}

#[tokio::test]
async fn disk_i14_i40_intent_is_synced_before_the_tool_starts_and_answers_before_they_are_acknowledged()
 {
    let trace = traced_cycle().await;
    let intent = safe(&trace, "call_started");
    let decision = safe(&trace, "hold_decided");
    assert_eq!(intent, decision, "answer and intent are one commit");
    // The supervisor comes first, then the command itself.
    let starts: Vec<_> = trace.of("execve").collect();
    let tool = starts.iter().find(|call| call.arguments.contains("append.sh"));
    let tool = tool.unwrap_or_else(|| panic!("no tool was started: {starts:?}"));
    for start in &starts {
        assert!(intent < start.began, "{start:?} comes before the intent is safe");
    }
    // I-17: the spool knows of the start before there is one.
    let word = trace.calls.iter().find(|call| {
        matches!(call.name.as_str(), "link" | "linkat") && call.arguments.contains("started")
    });
    let word = word.expect("a first word in the spool");
    let sync = trace.of("fsync").find(|call| call.began > word.ended && call.thread == word.thread);
    assert!(sync.is_some_and(|sync| sync.is_ok() && sync.ended < tool.began), "{word:?}");
    // I-20: the output is safe before it is reported.
    let output =
        trace.of("fsync").find(|call| call.is_on("/stdout")).expect("a sync of the output");
    let last = trace.first("rename", "exit").expect("a last word in the spool");
    let reported =
        trace.of("pwrite64").find(|call| call.is_on(WAL) && call.arguments.contains("did call_"));
    let reported = reported.expect("a result in the log");
    assert!(output.ended < last.began && last.ended < reported.began);
    // I-10: nobody is told anything before it is safe.
    assert!(safe(&trace, "session_opened") < told(&trace, "HTTP/1.1 201"));
    assert!(safe(&trace, "note traced") < told(&trace, "HTTP/1.1 202"));
    assert!(decision < told(&trace, "approved"));
    // I-40: as many syncs as a cycle has commits, and one for its session.
    let syncs = trace.syncs(WAL).count();
    assert!(syncs >= 6, "{syncs} syncs");
}

#[tokio::test]
async fn disk_i10_i14_a_slow_sync_holds_back_acknowledgement_and_tool() {
    const SLOW: Duration = Duration::from_millis(700);
    let served = Served::start(&config(), SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note slow").await;
    let log = served.log().with_file_name("strace");
    let strace = Strace::attach(served.id(), SYNCS, &[], &[Fault::delay(SYNCS, SLOW)], &log).await;
    let (path, body) = approval(&hold);
    let began = Instant::now();
    let answer = ana.post(&path, &body);
    let mut answer = std::pin::pin!(answer);
    while began.elapsed() < SLOW / 2 {
        tokio::select! {
            reply = &mut answer => panic!("acknowledged after {:?}: {reply:?}", began.elapsed()),
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
        assert_eq!(served.witness().lines(), Ok(Vec::new()), "it ran before its intent was safe");
    }
    answer.await.must(200);
    assert!(began.elapsed() >= SLOW, "acknowledged after {:?}", began.elapsed());
    // Only then does strace let go: a thread that waits in vfork for a child that strace holds would never stop for it.
    ana.run_is(&session, "completed").await;
    strace.detach().await;
}
