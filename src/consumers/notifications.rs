//! Tells customers what happened to their orders.

use crate::database::Transaction;
use crate::error::Result;
use crate::events::Message;
use crate::services::customers::notifications;
use crate::services::events::deduplication::Effect;

pub async fn act(tx: &Transaction, message: &Message) -> Result<Effect> {
    notifications::tell(tx, message).await?;
    Ok(Effect::Applied)
}
