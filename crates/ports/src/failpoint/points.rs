//! The one table of fail points: every name that stands in the code, and where that is.

/// In the order in which one call comes past them.
pub const POINTS: &[(&str, &str)] = &[
    // Every commit of the walk, before the store is asked and after it said that it is on disk.
    ("session.before_commit", "a session is about to be written"),
    ("session.committed", "a session is on disk, and nobody knows"),
    ("message.before_commit", "a message is about to be written"),
    ("message.committed", "a message is on disk, and nobody knows"),
    ("turn.before_commit", "a turn of the model, with its calls and holds, is about to be written"),
    ("turn.committed", "a turn is on disk, and nobody knows"),
    ("answer.before_commit", "an answer, with the intent to run, is about to be written"),
    ("answer.committed", "an answer and the intent are on disk, and nobody knows"),
    ("report.before_commit", "a result is about to be written"),
    ("report.committed", "a result is on disk, and nobody knows"),
    ("final.before_commit", "the last word of a run is about to be written"),
    ("final.committed", "the last word is on disk, and nobody knows"),
    ("expiry.before_commit", "the end of an unanswered hold is about to be written"),
    ("expiry.committed", "the end of an unanswered hold is on disk, and nobody knows"),
    ("doubt.before_commit", "that a call is in doubt is about to be written"),
    ("doubt.committed", "that a call is in doubt is on disk, and nobody knows"),
    ("again.before_commit", "another attempt is about to be written"),
    ("again.committed", "another attempt is on disk, and nobody knows"),
    ("outside.before_commit", "an outside hold, or its end, is about to be written"),
    ("outside.committed", "an outside hold, or its end, is on disk, and nobody knows"),
    // Inside the writer.
    ("writer.before_commit", "a transaction is whole, and COMMIT is next"),
    ("writer.before_intent", "the same, for one that lets a call start"),
    ("writer.committed", "COMMIT is done, and no caller has been told"),
    ("writer.intent_committed", "the same, for one that lets a call start"),
    ("writer.before_checkpoint", "the log is about to be signed"),
    ("writer.checkpointed", "the signature is on disk"),
    // From a commit to what follows from it.
    ("followup.before_cache", "committed, not yet in the cache"),
    ("followup.cached", "in the cache, no follower told"),
    ("followup.published", "followers told, nothing dispatched"),
    ("followup.dispatched", "what is owed was started"),
    // Asking the model and ruling on what it said.
    ("think.before_model", "the model is about to be asked"),
    ("think.thought", "the model has answered, nothing of it is written"),
    ("rule.before_prepare", "a tool is about to look at a call"),
    ("rule.prepared", "a tool has looked"),
    // Running a call.
    ("execute.before_run", "the intent is on disk, the tool is not touched"),
    ("execute.ran", "the tool is done, nothing is reported"),
    ("execute.reported", "reported, and the traces are still there"),
    ("execute.forgotten", "the traces are gone"),
    // A process, as the server sees it.
    ("process.reserved", "the attempt has its folder, nothing is started"),
    ("process.spawned", "the supervisor runs, and has no order"),
    ("process.ordered", "the supervisor has its order"),
    ("process.ended", "the supervisor has ended, its word is not read"),
    // A process, as its supervisor sees it.
    ("supervisor.ordered", "the order is read, the first word is not said"),
    ("supervisor.began", "the first word is said, nothing is started"),
    ("supervisor.spawned", "the command runs"),
    ("supervisor.ended", "the command has ended, its output may not be on disk"),
    ("supervisor.synced", "its output is on disk, the last word is not said"),
    ("supervisor.recorded", "the last word is said"),
    // A change of a database.
    ("sql.before_commit", "the change and its marker are made, COMMIT is next"),
    ("sql.committed", "the change is made, nothing is reported"),
    // After a crash.
    ("recover.before", "nothing is looked at yet"),
    ("recover.session", "a session that owes something is looked at"),
    ("recover.before_fence", "an attempt's folder is found or made, it is not fenced"),
    ("recover.fenced", "the first word about the attempt is said, by us or before"),
    ("recover.looked", "what became of a call is known, and not written"),
    ("recover.wrote", "what became of a call is written"),
    ("recover.woken", "a session goes on"),
    // Time and callbacks.
    ("expire.due", "a deadline has passed, nothing is decided"),
    ("expire.applied", "the deadline is applied"),
    ("deliver.before_send", "a callback is about to be sent"),
    ("deliver.sent", "a callback was taken, and is not crossed off"),
    ("deliver.marked", "a callback is crossed off"),
    // The words to the caller.
    ("http.session_reply", "a session is open, its opener is not told"),
    ("http.message_reply", "a message is taken, its sender is not told"),
    ("http.hold_reply", "an outside hold is open, its opener is not told"),
    ("http.answer_reply", "an answer is taken, its giver is not told"),
];
