use std::time::Duration;

use scylla::{
    errors::{DbError, ExecutionError, RequestAttemptError, WriteType},
    statement::Consistency,
};
use trapline_store::PortError;

use crate::cql::error::{is_ambiguous, port_error};

fn answer(error: DbError) -> ExecutionError {
    ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, String::new()))
}

fn write_timeout() -> DbError {
    let (received, required) = (1, 2);
    let consistency = Consistency::LocalSerial;
    DbError::WriteTimeout { consistency, received, required, write_type: WriteType::Cas }
}

fn too_few_nodes() -> DbError {
    DbError::Unavailable { consistency: Consistency::LocalQuorum, required: 2, alive: 1 }
}

#[test]
fn timeouts_are_told_from_refusals() {
    let late = ExecutionError::RequestTimeout(Duration::from_secs(5));
    assert!(matches!(port_error(late), PortError::Timeout));
    assert!(matches!(port_error(answer(write_timeout())), PortError::Timeout));
    for refusal in [too_few_nodes(), DbError::Overloaded, DbError::Unauthorized] {
        assert!(matches!(port_error(answer(refusal)), PortError::Unavailable(_)));
    }
    assert!(matches!(port_error(ExecutionError::EmptyPlan), PortError::Unavailable(_)));
}

#[test]
fn only_what_cannot_have_been_applied_is_certain() {
    let open = [write_timeout(), DbError::ServerError, DbError::Other(0x1700)];
    assert!(open.into_iter().all(|error| is_ambiguous(&answer(error))));
    assert!(is_ambiguous(&ExecutionError::RequestTimeout(Duration::ZERO)));
    let certain = [too_few_nodes(), DbError::Overloaded, DbError::Invalid, DbError::SyntaxError];
    assert!(certain.into_iter().all(|error| !is_ambiguous(&answer(error))));
    assert!(!is_ambiguous(&ExecutionError::EmptyPlan));
}
