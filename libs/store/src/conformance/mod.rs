//! The suite that every adapter must pass: what the ports promise, and no more.
//!
//! Each test uses ids of its own, so all of them may run at once against one cluster. An adapter's
//! crate runs them with one line:
//!
//! ```ignore
//! trapline_store::conformance::suite!(embedded, EmbeddedHarness::new().await);
//! ```

#![expect(clippy::missing_panics_doc, reason = "tests panic when they fail")]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

pub mod blobs;
pub mod bus;
pub mod cache;
mod fixtures;
pub mod limiter;
pub mod queue;
pub mod store;
pub mod store_clocks;
pub mod store_guards;
pub mod store_heads;
pub mod store_scans;
pub mod store_walks;

use std::{sync::Arc, time::Duration};

use crate::{Clock, Ports, Store};

/// An adapter under test.
pub trait Harness: Send + Sync {
    /// The adapter's ports.
    fn ports(&self) -> &Ports;
    /// The adapter's name, for messages of failed tests.
    fn name(&self) -> &str;
    /// The clock that the adapter goes by.
    fn clock(&self) -> &Clock;
    /// The same rows as a process has them whose clock is another. An adapter for one process has one
    /// clock, and returns its own store.
    fn store_of(&self, clock: Clock) -> impl Future<Output = Arc<dyn Store>> + Send;
    /// Lets time go by for the adapter.
    fn advance(&self, by: Duration) -> impl Future<Output = ()> + Send;
}

/// Makes a test of each function of the suite: `suite!(module, expression for a Harness)`. The
/// expression may await, and sees the names of the place where the macro is used.
#[macro_export]
macro_rules! suite {
    ($name:ident, $harness:expr) => {
        mod $name {
            $crate::suite!(@ store, $harness, prepare_is_repeatable, reads_back, the_last_write_wins,
                deletes, the_wrong_kind_of_write_is_refused, unknown_and_malformed_keys_are_refused,
                a_partition_applies_whole_or_not, partitions_apply_in_order, a_row_outlives_its_time,
                every_write_sets_the_time_anew, logs_keep_nothing_for_ever,
                big_documents, answers_ping, tells_its_time);
            $crate::suite!(@ store_clocks, $harness, a_delete_wins_over_what_was_read,
                a_change_wins_over_what_was_read, a_range_delete_takes_all_that_is_there,
                a_clock_may_jump);
            $crate::suite!(@ store_scans, $harness, newest_first, text_by_its_bytes, partitions_are_listed_once,
                numbers_by_value, between_after_and_until,
                bounds_of_other_versions_are_refused, by_prefix, at_most_limit, keys_only,
                partitions_are_apart, delete_until_takes_the_row_and_the_older,
                delete_until_takes_what_comes_before_it, scans_skip_the_expired);
            $crate::suite!(@ store_heads, $harness, headed_rows_are_rows, narrow_finds_every_row_with_a_text,
                narrow_ends_with_the_last_it_was_asked_for, narrow_stays_within_its_scan);
            $crate::suite!(@ store_walks, $harness, a_walk_finds_each_row_once, a_walk_tells_what_a_row_is,
                a_walk_goes_through_large_partitions, a_walk_skips_the_expired);
            $crate::suite!(@ store_guards, $harness, absent_loses_to_a_row, versions_count_up,
                a_wrong_version_conflicts, guarded_delete, absent_wins_over_the_expired,
                a_version_of_the_expired_conflicts, a_row_of_a_backup_keeps_its_version,
                one_of_many_creates, no_increment_is_lost);
            $crate::suite!(@ queue, $harness, publish_take_finish, a_delayed_job_waits,
                the_same_id_is_stored_once, lanes_are_apart, the_longest_due_comes_first,
                an_expired_lease_is_taken_again, an_extended_lease_is_kept,
                a_lost_lease_cannot_be_extended, retry_is_delayed,
                stats_count, take_waits_for_a_publish, take_gives_up, each_job_to_one_worker);
            $crate::suite!(@ bus, $harness, an_event_is_heard, other_inboxes_are_not,
                every_subscriber_hears, nothing_from_before, a_dropped_stream_ends,
                a_slow_subscriber_is_told);
            $crate::suite!(@ limiter, $harness, a_burst_then_nothing, regained_with_time,
                keys_are_apart);
            $crate::suite!(@ cache, $harness, put_and_get, gone_after_its_time,
                the_last_put_counts, a_mark_is_stable, a_bump_never_repeats, many_are_read_together);
            $crate::suite!(@ blobs, $harness, committed_bytes_read_back, other_bytes_are_damaged, parts_are_cut_at_the_end, a_segments_end,
                rows_come_with_their_bytes, what_goes_before_is_kept_too,
                a_job_comes_with_its_group, a_removed_segment_is_gone, a_refused_group_leaves_nothing, many_groups_at_once);
        }
    };
    (@ $port:ident, $harness:expr, $($test:ident),+ $(,)?) => {
        mod $port {
            use super::super::*;

            $(
                #[tokio::test]
                async fn $test() {
                    let harness = $harness;
                    $crate::conformance::$port::$test(&harness).await;
                }
            )+
        }
    };
}

pub use suite;
