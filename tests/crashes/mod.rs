//! The process dies, stands still, is hung up on or run over: every request still counts once.

mod audited;
mod crowded;
mod hung_up;
mod killed;
mod stopped;
