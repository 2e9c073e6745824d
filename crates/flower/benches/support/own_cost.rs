//! What this process itself uses: memory and CPU, as the kernel counts them.

use std::time::Duration;

/// What was used up to now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnCost {
    /// CPU time of all our threads.
    pub(crate) cpu: Duration,
    /// Resident memory now, in kB.
    pub(crate) resident_kb: u64,
    /// The most resident memory so far, in kB.
    pub(crate) peak_kb: u64,
}

/// Reads it. Zero where the system does not tell.
pub(crate) fn now() -> OwnCost {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    // Hundredths of a second; fields 14 and 15, counted behind the name in parentheses.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit_once(')').map_or(0, |(_, fields)| {
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
    });
    OwnCost { cpu: Duration::from_millis(ticks * 10), resident_kb: field("VmRSS:"), peak_kb: field("VmHWM:") }
}
