//! One suite that every store passes.
//!
//! A store under test is given as a function that opens it: the first call begins with nothing, and
//! every later one opens the same data as a new process would, after the store before it is gone.
//!
//! ```
//! # use std::sync::Mutex;
//! # use holdpoint_stores::MemoryStore;
//! # use holdpoint_stores::conformance::{self, Opener};
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let kept = Mutex::new(None::<MemoryStore>);
//! let open: Box<Opener> = Box::new(move |node| {
//!     let mut kept = kept.lock().unwrap();
//!     let store = match kept.take() {
//!         Some(before) => before.again(node),
//!         None => MemoryStore::new(node),
//!     };
//!     *kept = Some(store.clone());
//!     std::sync::Arc::new(store)
//! });
//! conformance::journal::positions_are_consecutive(&*open).await;
//! # });
//! ```
//!
//! [`store_conformance!`](crate::store_conformance) makes a test of every check.

pub mod durable;
pub mod expiring;
pub mod files;
pub mod inbox;
pub mod journal;
pub mod lists;
pub mod log;
pub mod notes;
pub mod outbox;
pub mod sealed;
pub mod stage;

use std::sync::Arc;

use domain::id::NodeId;
use ports::store::Store;

pub type Opener = dyn Fn(NodeId) -> Arc<dyn Store> + Send + Sync;

/// One test for each check of the suite, with a fresh store for each. With `in one test:` before it, all of them one after
/// the other and in one process, for stores whose server takes long to start.
#[macro_export]
macro_rules! store_conformance {
    // For a store whose `Store::files` is none.
    (in one test, without files: $opener:expr) => {
        $crate::store_conformance! { @checks in_turn $opener; }
    };
    ($opener:expr) => {
        $crate::store_conformance! { @checks each $opener;
            files: bytes_come_back_and_outlive_a_process, an_upload_that_is_cut_leaves_nothing,
                what_is_over_the_quota_is_refused, a_repeated_upload_is_the_first_one,
                only_what_nothing_uses_is_forgotten;
        }
    };
    (@checks $how:ident $opener:expr; $($files:tt)*) => {
        $crate::store_conformance! { @$how $opener;
            journal: positions_are_consecutive, a_stale_commit_leaves_no_trace,
                i09_of_many_at_once_one_wins, i10_what_was_acknowledged_is_there_again,
                a_freeze_stops_commits_that_rely_on_it, a_repeated_request_changes_nothing,
                i54_a_commit_after_its_deadline_leaves_no_trace,
                commits_are_told_in_the_order_of_the_journal,
                runs_lead_to_their_session, a_follower_misses_nothing,
                an_event_of_another_stream_is_refused;
            durable: i01_only_what_the_store_acknowledged_is_durable,
                i01_a_decision_counts_only_on_the_state_that_is_on_record;
            lists: i30_everybody_sees_their_own_and_nothing_else, pages_have_no_gaps,
                filters_and_counts_agree, sessions_are_found_at_their_home, i29_what_is_due_is_found, what_is_owed_is_found,
                grants_are_seen_by_those_concerned;
            inbox: decided_holds_are_found_by_who_and_when, lists_have_their_order;
            log: i42_the_journal_gives_every_row_back, i43_the_log_verifies,
                the_log_is_signed_as_it_grows;
            $($files)*
            notes: all_are_written_or_none, they_are_found_by_key_and_when_due,
                they_outlive_a_process_and_are_forgotten_in_time;
            outbox: i35_items_stay_until_they_are_done,
                a_refused_commit_leaves_nothing_in_the_outbox,
                items_and_notes_are_written_together_or_not_at_all,
                of_many_senders_one_claims_an_item, a_leased_lane_waits_until_the_lease_ends,
                what_is_in_order_is_not_overtaken,
                a_prompt_overtakes_a_text_that_cannot_be_delivered, lanes_are_served_fairly,
                an_item_that_changes_its_lane_leaves_the_old_one;
            expiring: a_secret_is_taken_once,
                secrets_that_expired_are_swept, replies_are_forgotten_in_time,
                i45_what_people_gave_is_kept_apart_and_for_its_own_session;
            sealed: i45_a_secret_takes_no_other_ones_place, i45_secrets_come_back_as_they_were_given;
        }
    };
    (@in_turn $opener:expr; $($module:ident: $($check:ident),+;)+) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn every_check_of_the_suite() {
            $($({
                // Said beforehand: the last line of a test that fails is the check that did.
                eprintln!("{}::{}", stringify!($module), stringify!($check));
                let opener: Box<$crate::conformance::Opener> = $opener;
                Box::pin($crate::conformance::$module::$check(&*opener)).await;
            })+)+
        }
    };
    (@each $opener:expr; $($module:ident: $($check:ident),+;)+) => {
        $(mod $module {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                let opener: Box<$crate::conformance::Opener> = $opener;
                $crate::conformance::$module::$check(&*opener).await;
            })+
        })+
    };
}
