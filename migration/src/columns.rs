//! Kinds of columns and tables, the same on `SQLite` and `MySQL`.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Statement};

/// A table, unless a step that was killed half way has made it, whose text compares byte for byte, trailing blanks included (`SQLite`'s always does).
pub async fn table(
    manager: &SchemaManager<'_>,
    name: &'static str,
) -> Result<TableCreateStatement, DbErr> {
    let mut table = Table::create();
    table.table(name).if_not_exists();
    if manager.get_database_backend() == DbBackend::MySql {
        table
            .engine("InnoDB")
            .character_set("utf8mb4")
            .collate(exact_collation(manager).await?);
    }
    Ok(table)
}

/// Of the collations that compare bytes the one that does not ignore trailing blanks; `utf8mb4_bin` does.
async fn exact_collation(manager: &SchemaManager<'_>) -> Result<String, DbErr> {
    let db = manager.get_connection();
    let sql = "SELECT CAST(collation_name AS CHAR) AS name FROM information_schema.collations \
               WHERE collation_name IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin') \
               ORDER BY collation_name DESC LIMIT 1";
    let found = db
        .query_one_raw(Statement::from_string(DbBackend::MySql, sql))
        .await?;
    let missing = || DbErr::Migration("MariaDB 10.6 or MySQL 8 is needed".to_owned());
    found.ok_or_else(missing)?.try_get("", "name")
}

/// 1, 2, 3 … given by the database.
pub fn serial(name: &'static str) -> ColumnDef {
    let mut column = big(name);
    column.auto_increment().primary_key();
    column
}

/// A 64-bit integer.
pub fn big(name: &'static str) -> ColumnDef {
    let mut column = ColumnDef::new(name);
    column.big_integer().not_null();
    column
}

/// Text of at most `length` characters.
pub fn text(name: &'static str, length: u32) -> ColumnDef {
    let mut column = ColumnDef::new(name);
    column.string_len(length).not_null();
    column
}

/// Text that counts to the last blank: `MySQL`'s `_bin` collations ignore trailing ones.
pub fn bytes(name: &'static str, length: u32) -> ColumnDef {
    let mut column = ColumnDef::new(name);
    column.var_binary(length).not_null();
    column
}

/// A JSON document.
pub fn json(name: &'static str) -> ColumnDef {
    let mut column = ColumnDef::new(name);
    column.json().not_null();
    column
}

/// UTC with microseconds.
pub fn utc(manager: &SchemaManager<'_>, name: &'static str) -> ColumnDef {
    let mut column = utc_or_null(manager, name);
    column.not_null();
    column
}

/// UTC with microseconds, when it has happened.
pub fn utc_or_null(manager: &SchemaManager<'_>, name: &'static str) -> ColumnDef {
    let mut column = ColumnDef::new(name);
    match manager.get_database_backend() {
        DbBackend::MySql => column.custom("datetime(6)"),
        _ => column.timestamp_with_time_zone(),
    };
    column
}

/// The named promise that a column never falls below zero.
pub fn never_negative(name: &'static str, column: &'static str) -> Check {
    Check::named(name, Expr::col(column).gte(0))
}

/// A named unique key.
pub fn unique(name: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(name).unique();
    for column in columns {
        index.col(*column);
    }
    index
}

/// A named foreign key from `from` to the primary key `to` of another table.
pub fn foreign(
    name: &'static str,
    from: (&'static str, &'static str),
    to: (&'static str, &'static str),
) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(name)
        .from(from.0, from.1)
        .to(to.0, to.1)
        .to_owned()
}

/// A named index to read by, unless a step that was killed half way has made it.
pub async fn index(
    manager: &SchemaManager<'_>,
    name: &'static str,
    table: &'static str,
    columns: &[&'static str],
) -> Result<(), DbErr> {
    if manager.has_index(table, name).await? {
        return Ok(());
    }
    let mut index = Index::create();
    index.name(name).table(table);
    for column in columns {
        index.col(*column);
    }
    manager.create_index(index).await
}

/// Drops tables, children first, as far as they are there.
pub async fn drop_tables(manager: &SchemaManager<'_>, names: &[&'static str]) -> Result<(), DbErr> {
    for name in names {
        manager
            .drop_table(Table::drop().table(*name).if_exists().to_owned())
            .await?;
    }
    Ok(())
}
