//! What this process and those that it has waited for use: memory and CPU, as the kernel counts them.

use std::time::Duration;

/// What was used up to now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnCost {
    /// CPU time of all our threads.
    pub(crate) cpu: Duration,
    /// CPU time of all processes that were waited for, and of those that they waited for.
    pub(crate) children: Duration,
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
    // Hundredths of a second; fields 14 to 17, counted behind the name in parentheses.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: Vec<u64> = fields.skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    let time = |fields: &[u64]| Duration::from_millis(fields.iter().sum::<u64>() * 10);
    let (own, children) = ticks.split_at(ticks.len().min(2));
    OwnCost {
        cpu: time(own),
        children: time(children),
        resident_kb: field("VmRSS:"),
        peak_kb: field("VmHWM:"),
    }
}
