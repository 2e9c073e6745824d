//! Is a shell command a glance: read-only, cheap and finite?
