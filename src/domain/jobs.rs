//! The scheduled jobs, by their names.

/// What is done from time to time, on one instance at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Job {
    /// Closes orders whose time to pay is over.
    CloseUnpaid,
    /// Asks gateways about what nobody told us, and tells persons what stays open.
    Reconcile,
    /// Sends refunds whose end is not known.
    RetryRefunds,
    /// Brings events that the bus has lost to their consumers.
    Redeliver,
    /// Moves old rows out of the tables.
    Archive,
}

impl Job {
    pub const ALL: [Self; 5] = [
        Self::CloseUnpaid,
        Self::Reconcile,
        Self::RetryRefunds,
        Self::Redeliver,
        Self::Archive,
    ];

    /// The name on the command line, in tables and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CloseUnpaid => "close_unpaid",
            Self::Reconcile => "reconcile",
            Self::RetryRefunds => "retry_refunds",
            Self::Redeliver => "redeliver",
            Self::Archive => "archive",
        }
    }

    /// The job of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|job| job.name() == name)
    }
}
