//! The same for what runs behind the doors: the relay, the consumers, a job.
