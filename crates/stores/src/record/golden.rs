//! What is on disk stays readable: every golden file is what this code writes today, and reads as
//! what it meant when it was made.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use domain::answer::Answer;
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::{Decision, HoldState};
use domain::id::{Bits, HoldId, StreamId};
use ports::store::Entry;

use super::samples::{self, event_name};
use super::{
    Broken, read_grant, read_hold, read_row, read_since, write_grant, write_hold, write_row,
    write_since,
};

fn path(name: &str) -> PathBuf {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let version = match name {
        name if samples::SINCE_V7.contains(&name) => "v7",
        name if samples::SINCE_V6.contains(&name) => "v6",
        name if samples::SINCE_V5.contains(&name) => "v5",
        name if samples::SINCE_V4.contains(&name) => "v4",
        name if samples::SINCE_V3.contains(&name) => "v3",
        name if samples::SINCE_V2.contains(&name) => "v2",
        _ => "v1",
    };
    golden.join(version).join(format!("{name}.json"))
}

/// The golden bytes. A file that is missing is made on demand, and then never again.
fn golden(name: &str, written: &[u8]) -> Vec<u8> {
    let path = path(name);
    if !path.exists() && std::env::var_os("HOLDPOINT_NEW_GOLDEN").is_some() {
        fs::write(&path, [written, b"\n"].concat()).unwrap();
    }
    let bytes = fs::read(&path).unwrap_or_else(|error| {
        panic!("{name}.json: {error}; run once with HOLDPOINT_NEW_GOLDEN=1 to make a new one")
    });
    bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn every_event_is_written_and_read_as_ever() {
    let mut seen = BTreeSet::new();
    for (name, expected) in samples::rows() {
        let written = write_row(&expected);
        let golden = golden(name, &written);
        assert_eq!(text(&written), text(&golden), "{name} is written differently");
        let read = read_row(&golden, 7).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        assert_eq!(read, expected, "{name} is read differently");
        seen.extend(expected.events.iter().map(event_name));
    }
    let every: BTreeSet<&str> = samples::EVENT_NAMES.into();
    assert_eq!(seen, every, "an event without a golden file");
}

#[test]
fn every_hold_and_grant_is_written_and_read_as_ever() {
    for (name, hold) in samples::holds() {
        let written = write_hold(&hold);
        let golden = golden(name, &written);
        assert_eq!(text(&written), text(&golden), "{name} is written differently");
        assert_eq!(*read_hold(&golden).unwrap(), hold, "{name} is read differently");
    }
    let (opened, decided) = (samples::holds().remove(0).1, samples::holds().remove(1).1);
    let written = write_since(&opened, &decided).unwrap();
    let since = golden("hold_since_opened", &written);
    assert_eq!(text(&written), text(&since), "it is written differently");
    assert_eq!(*read_since(&since, &opened).unwrap(), decided, "it is read differently");
    let commented = samples::holds().into_iter().find(|(name, _)| *name == "hold_with_comments");
    let (_, commented) = commented.unwrap();
    let written = write_since(&opened, &commented).unwrap();
    let since = golden("hold_since_commented", &written);
    assert_eq!(text(&written), text(&since), "it is written differently");
    assert_eq!(*read_since(&since, &opened).unwrap(), commented, "it is read differently");
    for (name, grant) in samples::grants() {
        let written = write_grant(&grant);
        let golden = golden(name, &written);
        assert_eq!(text(&written), text(&golden), "{name} is written differently");
        assert_eq!(*read_grant(&golden).unwrap(), grant, "{name} is read differently");
    }
}

#[test]
fn a_newer_version_is_told_apart_from_damage() {
    let (_, commit) = samples::rows().remove(0);
    let row = String::from_utf8(write_row(&commit)).unwrap();
    let newer = row.replacen("\"v\":1", "\"v\":9", 1);
    assert_eq!(read_row(newer.as_bytes(), 1), Err(Broken::Newer(9)));
    // Also if it says things that this version has never heard of.
    let stranger = newer.replacen("\"events\"", "\"weather\":\"fine\",\"events\"", 1);
    assert_eq!(read_row(stranger.as_bytes(), 1), Err(Broken::Newer(9)));
    let said = ports::store::StoreError::from(Broken::Newer(9)).to_string();
    assert!(said.contains("this data was written by a newer version of Holdpoint"), "{said}");

    let unknown = row.replacen("\"events\"", "\"weather\":\"fine\",\"events\"", 1);
    assert!(
        matches!(read_row(unknown.as_bytes(), 1), Err(Broken::Damaged(_))),
        "nothing is ignored"
    );
    let (_, hold) = samples::holds().remove(0);
    let newer = String::from_utf8(write_hold(&hold)).unwrap().replacen("\"v\":1", "\"v\":9", 1);
    assert_eq!(read_hold(newer.as_bytes()), Err(Broken::Newer(9)));
}

#[test]
fn a_hold_with_an_outcome_and_no_call_is_not_read() {
    let (name, bare) = samples::holds().remove(2);
    assert_eq!((name, bare.call()), ("hold_choose", None));
    let with_outcome = |written: Vec<u8>, from: &str| {
        let written = String::from_utf8(written).unwrap();
        let changed = written.replacen(from, &format!(r#"{from},"outcome":"executing""#), 1);
        assert_ne!(changed, written);
        changed.into_bytes()
    };
    let whole = with_outcome(write_hold(&bare), r#""two_phase":true"#);
    let since = with_outcome(write_since(&bare, &bare).unwrap(), r#""version":1"#);
    for read in [read_hold(&whole), read_since(&since, &bare)] {
        assert!(matches!(&read, Err(Broken::Damaged(why)) if why.contains("no call")), "{read:?}");
    }
}

#[test]
fn a_hold_of_a_session_without_its_run_or_with_a_callback_is_not_read() {
    let (_, hold) = samples::holds().remove(0);
    let written = String::from_utf8(write_hold(&hold)).unwrap();
    let run = format!(r#","run":"{}""#, hold.run().unwrap());
    let callback = r#","callback":{"url":"https://example.com/h","secret_env":"HOOK"}"#;
    for (from, to) in [
        (&*run, String::new()),
        (&*run, format!("{run}{callback}")),
        (r#","agent":"ops""#, String::new()),
    ] {
        let mixed = written.replacen(from, &to, 1);
        assert_ne!(mixed, written);
        let read = read_hold(mixed.as_bytes());
        assert!(matches!(&read, Err(Broken::Damaged(why)) if why.contains("mixes")), "{read:?}");
    }
}

#[test]
fn an_event_of_another_stream_is_not_read() {
    let other = StreamId::ExternalHold(HoldId(Bits(1)));
    for (name, entry) in samples::rows() {
        let of_its_hold = entry.events.iter().all(|event| event.hold_event().is_some());
        for stream in [StreamId::Session(samples::SESSION), other, StreamId::Global] {
            // A session may have any hold, so what happens to one is told there in the same words.
            if stream == entry.stream || (of_its_hold && stream.session().is_some()) {
                continue;
            }
            let moved = write_row(&Entry { stream, ..entry.clone() });
            let read = read_row(&moved, 1);
            assert!(matches!(read, Err(Broken::Damaged(_))), "{name} in {stream}: {read:?}");
        }
    }
}

#[test]
fn nothing_is_said_twice_in_a_row() {
    let (_, turn) = samples::rows().into_iter().find(|(name, _)| *name == "turn").unwrap();
    let row = String::from_utf8(write_row(&turn)).unwrap();
    assert_eq!(row.matches("DELETE FROM orders").count(), 1, "{row}");
    assert_eq!(row.matches("definition").count(), 1, "{row}");
    assert_eq!(row.matches(&turn.stream.to_string()).count(), 1, "{row}");
}

#[test]
fn i02_a_call_whose_bytes_changed_on_disk_is_not_read() {
    let (_, turn) = samples::rows().into_iter().find(|(name, _)| *name == "turn").unwrap();
    let row = String::from_utf8(write_row(&turn)).unwrap();
    for (from, to) in [
        ("DELETE FROM orders", "DELETE FROM people"),
        ("\"tool\":\"sql_modify\"", "\"tool\":\"sql_query\""),
        ("\"tool_use_id\":\"toolu_01\"", "\"tool_use_id\":\"toolu_02\""),
        ("\"agent\":\"ops\"", "\"agent\":\"oops\""),
        ("working_directory\":\"/srv", "working_directory\":\"/etc"),
    ] {
        let changed = row.replacen(from, to, 1);
        assert_ne!(changed, row, "{from}");
        match read_row(changed.as_bytes(), 1) {
            Err(Broken::Damaged(why)) => assert!(why.contains("digest was written"), "{why}"),
            other => panic!("{from}: {other:?}"),
        }
    }
    let (_, hold) = samples::holds().into_iter().find(|(name, _)| *name == "hold_pending").unwrap();
    let record = String::from_utf8(write_hold(&hold)).unwrap();
    let changed = record.replacen("DELETE FROM orders", "DELETE FROM people", 1);
    assert_ne!(changed, record);
    assert!(matches!(read_hold(changed.as_bytes()), Err(Broken::Damaged(_))));
}

#[test]
fn damage_never_panics_and_never_repeats_what_was_stored() {
    for (name, commit) in samples::rows() {
        let row = write_row(&commit);
        for at in 0..row.len() {
            let mut damaged = row.clone();
            damaged[at] ^= 0x15;
            if let Err(broken) = read_row(&damaged, 1) {
                assert!(!broken.to_string().contains("hunter2"), "{name}: {broken}");
            }
            assert!(read_row(&row[..at], 1).is_err());
        }
    }
}

#[test]
fn a_form_as_deep_as_the_door_lets_in_is_read_again() {
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let form: serde_json::Value = serde_json::from_str(&deep).unwrap();
    let (_, mut commit) =
        samples::rows().into_iter().find(|(name, _)| *name == "decided_fill").unwrap();
    let Event::Session(SessionEvent::Hold(HoldEvent::Decided {
        state: HoldState::Answered(decision),
        ..
    })) = &mut std::sync::Arc::make_mut(&mut commit.events)[0]
    else {
        panic!("a filled form")
    };
    let Decision::People { vote, .. } = decision else { panic!("by a person") };
    std::sync::Arc::make_mut(vote).answer = Answer::Fill(form);
    assert_eq!(read_row(&write_row(&commit), 1).unwrap().events, commit.events);
    let (_, mut hold) = samples::holds().remove(1);
    hold.context = serde_json::from_str(&deep).unwrap();
    assert_eq!(*read_hold(&write_hold(&hold)).unwrap(), hold);
}

#[test]
fn names_of_events_are_all_different() {
    let names: BTreeSet<&str> = samples::EVENT_NAMES.into();
    assert_eq!(names.len(), samples::EVENT_NAMES.len());
    assert!(matches!(
        samples::rows()[0].1.events[0],
        Event::Session(SessionEvent::SessionOpened { .. })
    ));
}

#[test]
fn phrases_are_read_back_and_must_be_what_the_text_says() {
    let (_, hold) =
        samples::holds().into_iter().find(|(name, _)| *name == "hold_with_phrases").unwrap();
    let record = String::from_utf8(write_hold(&hold)).unwrap();
    let read = read_hold(record.as_bytes()).unwrap();
    // Details are the same by their text, so the codes are compared by themselves.
    let codes = |hold: &domain::hold::Hold| hold.call().unwrap().context.detail.codes();
    assert_eq!((codes(&read), codes(&read).len()), (codes(&hold), 2));
    for (from, to) in [
        ("[2,\"time_limit\"]", "[2,\"as_user\"]"),
        ("[2,\"time_limit\"]", "[1,\"time_limit\"]"),
        ("[2,\"time_limit\"]", "[2,\"weather\"]"),
    ] {
        let changed = record.replacen(from, to, 1);
        assert_ne!(changed, record, "{from}");
        assert!(matches!(read_hold(changed.as_bytes()), Err(Broken::Damaged(_))), "{to}");
    }
}
