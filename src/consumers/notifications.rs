//! Tells customers what happened to their orders.

use sea_orm::DatabaseTransaction;

use crate::error::Result;
use crate::events::Message;
use crate::services::consumption::Effect;
use crate::services::notifications;

pub async fn act(tx: &DatabaseTransaction, message: &Message) -> Result<Effect> {
    notifications::tell(tx, message).await?;
    Ok(Effect::Applied)
}
