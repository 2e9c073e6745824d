//! Does one thing to many items, on several threads where that earns more than it costs.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// Threads at most, this one among them. They share one memory, which soon is the limit.
const THREADS: usize = 4;

/// Makes something of every item, in order. `worth_a_thread` is the number of items from which on a second
/// thread is worth while.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    worth_a_thread: usize,
    make: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = (items.len() / worth_a_thread.max(1)).clamp(1, THREADS);
    let mut parts = items.chunks(items.len().div_ceil(threads).max(1));
    let first = parts.next().unwrap_or_default();
    let make = |part: &[T]| part.iter().map(&make).collect::<Vec<R>>();
    thread::scope(|scope| {
        // A system that has no thread to give gets its work done here.
        let others: Vec<_> =
            parts.map(|part| (part, Builder::new().spawn_scoped(scope, || make(part)))).collect();
        let mut made = make(first);
        for (part, thread) in others {
            match thread {
                Ok(thread) => made.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))),
                Err(_) => made.extend(make(part)),
            }
        }
        made
    })
}

/// Does two things at once.
pub(crate) fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl Fn() -> B) -> (A, B) {
    thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, &one);
        let other = other();
        let one = match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => one(),
        };
        (one, other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_things_are_done() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 3, 7, 100] {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * item).collect();
            for worth in [0, 1, 2, 30, 1000] {
                assert_eq!(map(&items, worth, |item| item * item), expected, "{count} {worth}");
            }
        }
    }
}
