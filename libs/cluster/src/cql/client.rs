//! Requests, counted, and their failures in the port's terms.

use std::{ops::ControlFlow, time::Duration};

use scylla::{
    client::session::Session,
    errors::ExecutionError,
    response::{
        PagingState,
        query_result::{QueryResult, QueryRowsResult},
    },
    statement::{
        Consistency,
        batch::{Batch, BatchType},
        bound::BoundStatement,
        prepared::PreparedStatement,
    },
    value::CqlTimestamp,
};
use tokio::sync::{Semaphore, SemaphorePermit};
use trapline_model::Time;
use trapline_store::{PortError, Result};

use super::{
    CqlError,
    error::port_error,
    meters::{CqlMeters, RequestKind},
    values::Param,
};

/// How long preparing a statement may take.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(10);
/// The protocol counts a batch's statements with 16 bits.
const MAX_BATCH_STATEMENTS: usize = u16::MAX as usize;
/// Reads, and as many writes, that a process has under way. More at once would only wait in the
/// server, whose own time for them runs out; apart, so that many readers keep no mail waiting.
const MAX_CONCURRENT_REQUESTS: usize = 256;
/// How long a request may wait for its permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
#[error("more requests than the CQL store can take")]
struct Busy;

/// A statement with its parameters.
pub(super) struct BoundStep<'a> {
    pub(super) statement: PreparedStatement,
    pub(super) values: Vec<Param<'a>>,
}

/// A session that counts.
pub(super) struct Client {
    pub(super) session: Session,
    meters: CqlMeters,
    ping: PreparedStatement,
    time: PreparedStatement,
    reads: Semaphore,
    writes: Semaphore,
}

impl Client {
    pub(super) async fn new(session: Session) -> Result<Self, CqlError> {
        let ping = of_node(&session, "key").await?;
        let time = of_node(&session, "toTimestamp(now())").await?;
        let (reads, writes) =
            (Semaphore::new(MAX_CONCURRENT_REQUESTS), Semaphore::new(MAX_CONCURRENT_REQUESTS));
        Ok(Self { session, meters: CqlMeters::new(), ping, time, reads, writes })
    }

    pub(super) async fn ping(&self) -> Result<()> {
        self.count(RequestKind::Read, self.session.execute_unpaged(&self.ping, ()).await)?;
        Ok(())
    }

    /// The time by the clock of one of the nodes.
    pub(super) async fn time(&self) -> Result<Time> {
        let answer = self.session.execute_unpaged(&self.time, ()).await;
        let rows = self.count(RequestKind::Read, answer)?.into_rows_result();
        let row = rows.map_err(PortError::unavailable)?.single_row::<(CqlTimestamp,)>();
        let (CqlTimestamp(millis),) = row.map_err(PortError::unavailable)?;
        Ok(Time::from_millis(millis))
    }

    pub(super) async fn prepare(&self, text: String) -> Result<PreparedStatement> {
        let prepared = tokio::time::timeout(PREPARE_TIMEOUT, self.session.prepare(text)).await;
        let prepared = prepared.map_err(|_| PortError::Timeout)?;
        prepared.map_err(|error| {
            self.meters.error();
            PortError::unavailable(error)
        })
    }

    /// Reads a page, and says where the next one begins if there is one.
    pub(super) async fn page(
        &self,
        statement: &BoundStatement,
        from: PagingState,
    ) -> Result<(QueryRowsResult, Option<PagingState>)> {
        let _permit = self.permit(&self.reads).await?;
        let answer = self.session.execute_bound_single_page(statement, from).await;
        let (page, next) = self.count(RequestKind::Read, answer)?;
        let rows = page.into_rows_result().map_err(PortError::unavailable)?;
        let next = match next.into_paging_control_flow() {
            ControlFlow::Continue(next) => Some(next),
            ControlFlow::Break(()) => None,
        };
        Ok((rows, next))
    }

    /// Runs statements of one partition, which apply together.
    pub(super) async fn run(
        &self,
        operation: RequestKind,
        steps: Vec<BoundStep<'_>>,
    ) -> Result<Result<QueryResult, ExecutionError>> {
        if steps.len() > MAX_BATCH_STATEMENTS {
            return Err(PortError::Misuse("more than 65,535 writes to one partition"));
        }
        let _permit = self.permit(&self.writes).await?;
        self.meters.operation(operation);
        let answer = match &steps[..] {
            [BoundStep { statement, values }] => {
                self.session.execute_unpaged(statement, values).await
            }
            steps => {
                let values: Vec<_> = steps.iter().map(|step| &step.values).collect();
                self.session.batch(&batch(operation, steps), values).await
            }
        };
        if answer.is_err() {
            self.meters.error();
        }
        Ok(answer)
    }

    async fn permit<'a>(&self, permits: &'a Semaphore) -> Result<SemaphorePermit<'a>> {
        let permit = tokio::time::timeout(PERMIT_TIMEOUT, permits.acquire()).await;
        // A semaphore that nobody closes refuses no one.
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            self.meters.error();
            PortError::unavailable(Busy)
        })
    }

    fn count<T>(&self, operation: RequestKind, answer: Result<T, ExecutionError>) -> Result<T> {
        self.meters.operation(operation);
        answer.map_err(|error| {
            self.meters.error();
            port_error(error)
        })
    }
}

/// A statement that asks whichever node takes it for something of its own.
async fn of_node(session: &Session, what: &str) -> Result<PreparedStatement, CqlError> {
    let text = format!("SELECT {what} FROM system.local WHERE key = 'local'");
    let asked = session.prepare(text).await;
    let mut statement = asked.map_err(CqlError::failed("prepare a statement"))?;
    statement.set_consistency(Consistency::LocalOne);
    statement.set_is_idempotent(true);
    Ok(statement)
}

/// Unlogged, because the log is for batches of several partitions. Both servers bound the size only
/// of those, so a batch of one may have large documents.
fn batch(operation: RequestKind, steps: &[BoundStep<'_>]) -> Batch {
    let statements = steps.iter().map(|step| step.statement.clone().into()).collect();
    let mut batch = Batch::new_with_statements(BatchType::Unlogged, statements);
    let first = &steps[0].statement;
    batch.set_is_idempotent(matches!(operation, RequestKind::Write));
    batch.set_retry_policy(first.get_retry_policy().cloned());
    batch
}
