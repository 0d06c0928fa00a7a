//! What happens to items and transfers without a call.

use super::{items, transactions, transfers, wire::SYNC};
use crate::{
    StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
    flow::{Flow, FlowStep, Simulation, StepActor, Trigger},
};

pub(in crate::providers) static SIMULATION: Simulation = Simulation {
    provider: "plaid",
    flows: &[
        Flow {
            kind: "items",
            steps: &[
                FlowStep { from: items::GOOD, to: items::LOGIN_REQUIRED, by: StepActor::Test },
                FlowStep { from: items::LOGIN_REQUIRED, to: items::GOOD, by: StepActor::Test },
            ],
            take: |context, item, to| {
                if to == items::GOOD {
                    items::repaired(context, item)
                } else {
                    items::needs_login(context, item)
                }
            },
            page: None,
        },
        transfers::FLOW,
    ],
    triggers: &[
        Trigger { event: SYNC, run: updated },
        Trigger { event: DEFAULT, run: |context, item| fired(context, item, DEFAULT) },
        Trigger { event: DISCONNECT, run: |context, item| fired(context, item, DISCONNECT) },
        Trigger { event: ACCOUNTS, run: |context, item| fired(context, item, ACCOUNTS) },
        Trigger { event: REVOKED, run: |context, item| fired(context, item, REVOKED) },
        Trigger { event: DEPOSITS, run: |context, item| fired(context, item, DEPOSITS) },
    ],
};

const DEFAULT: &str = "TRANSACTIONS.DEFAULT_UPDATE";
const DISCONNECT: &str = "ITEM.PENDING_DISCONNECT";
const ACCOUNTS: &str = "ITEM.NEW_ACCOUNTS_AVAILABLE";
const REVOKED: &str = "ITEM.USER_PERMISSION_REVOKED";
const DEPOSITS: &str = "AUTH.SMS_MICRODEPOSITS_VERIFICATION";

fn fired(
    context: &mut CallContext<'_>,
    item: Option<StoredObject>,
    event: &'static str,
) -> Result<StoredObject, Halt> {
    let item = item.filter(|item| item.kind == "items");
    let item = item.ok_or_else(|| CallFailure::invalid("objectId", "names no item"))?;
    items::fired(context, item, event)
}

/// There are new transactions, which are the next that a sync gives.
fn updated(
    context: &mut CallContext<'_>,
    item: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let item = item.map(|item| match item.kind.as_str() {
        "items" => transactions::add_generated(context, item),
        _ => item,
    });
    fired(context, item, SYNC)
}
