//! A database in trouble.
