//! What all tables do alike: a row whose id the database gives, and one row by a unique key.

use sea_orm::sea_query::IntoCondition;
use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbErr, EntityTrait, Insert, IntoActiveModel, Iterable,
    PrimaryKeyToColumn, PrimaryKeyTrait, QueryFilter,
};

/// The insertion of all columns but the id, which the database gives.
pub fn without_id<A, M>(model: M) -> Insert<A>
where
    A: ActiveModelTrait,
    M: IntoActiveModel<A>,
{
    let mut row = model.into_active_model().reset_all();
    for key in <A::Entity as EntityTrait>::PrimaryKey::iter() {
        row.not_set(key.into_column());
    }
    <A::Entity as EntityTrait>::insert(row)
}

/// Inserts and returns the id that the row got.
pub async fn insert<A, M>(
    db: &impl ConnectionTrait,
    model: M,
) -> Result<<<A::Entity as EntityTrait>::PrimaryKey as PrimaryKeyTrait>::ValueType, DbErr>
where
    A: ActiveModelTrait,
    M: IntoActiveModel<A>,
{
    Ok(without_id::<A, M>(model).exec(db).await?.last_insert_id)
}

/// The row that a unique key has.
pub async fn one<E: EntityTrait>(
    db: &impl ConnectionTrait,
    key: impl IntoCondition,
) -> Result<Option<E::Model>, DbErr> {
    E::find().filter(key.into_condition()).one(db).await
}
