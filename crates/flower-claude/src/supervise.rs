//! Runs foreign code: a handler of the host, with a deadline, its panics caught.
//!
//! Handlers are asynchronous, but nothing keeps them from blocking their thread: a lock, a database, a loop. On a worker of
//! the runtime such a handler could keep the runtime from noticing anything at all, its own deadline included. So each
//! runs where it may take as long as it likes without delaying anybody: on a worker that has handed its other work over
//! (that costs the answer nothing), or, where the runtime has only one, on a thread of the blocking pool.

use std::any::Any;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use crate::hooks::Problem;

/// Runs `work` and waits for it at most until `deadline`. When the returned future is done or dropped, the work is dropped
/// at its next await point.
pub(crate) async fn run<T, F>(
    deadline: Duration,
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T, Problem>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let runtime = Handle::current();
    // Nothing is ever sent: dropping the sender says that nobody waits any more.
    let (_waiting, mut withdrawn) = oneshot::channel::<()>();
    let flavor = runtime.runtime_flavor();
    let work = move || {
        runtime.block_on(async move {
            tokio::select! {
                biased;
                _ = &mut withdrawn => None,
                value = work() => Some(value),
            }
        })
    };
    let task = match flavor {
        RuntimeFlavor::MultiThread => tokio::spawn(async { tokio::task::block_in_place(work) }),
        _ => tokio::task::spawn_blocking(work),
    };
    match tokio::time::timeout(deadline, task).await {
        Ok(Ok(Some(value))) => Ok(value),
        Ok(Ok(None)) => Err(Problem::Failed("nobody waited for it".to_owned())),
        Ok(Err(error)) if error.is_panic() => Err(Problem::Panicked(panic_text(error.into_panic().as_ref()))),
        Ok(Err(error)) => Err(Problem::Failed(error.to_string())),
        Err(_) => Err(Problem::TooSlow(deadline)),
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock moves only when it is told to: hours in it take no time here.
    #[tokio::test(start_paused = true)]
    async fn only_the_deadline_ends_a_wait() {
        let hour = Duration::from_secs(3600);
        let asked = |deadline: Duration| {
            let answered = std::sync::Arc::new(tokio::sync::Notify::new());
            let answer = std::sync::Arc::clone(&answered);
            let waiting = tokio::spawn(run(deadline, move || async move {
                answered.notified().await;
                "done"
            }));
            (waiting, answer)
        };

        for deadline in [2 * hour, Duration::MAX] {
            let (waiting, answer) = asked(deadline);
            for _ in 0..61 {
                tokio::task::yield_now().await;
                tokio::time::advance(Duration::from_secs(60)).await;
            }
            assert!(!waiting.is_finished(), "cut long before {deadline:?}");
            answer.notify_one();
            assert_eq!(waiting.await.unwrap(), Ok("done"));
        }

        let (waiting, _answer) = asked(hour);
        tokio::task::yield_now().await;
        tokio::time::advance(hour).await;
        assert_eq!(waiting.await.unwrap(), Err(Problem::TooSlow(hour)));
    }

    #[tokio::test]
    async fn a_handler_that_blocks_its_thread_delays_nobody() {
        check_blocking().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn not_even_on_a_worker() {
        tokio::spawn(check_blocking()).await.unwrap();
    }

    async fn check_blocking() {
        let blocks = || async { std::thread::sleep(Duration::from_secs(2)) };
        let started = std::time::Instant::now();
        assert_eq!(
            run(Duration::from_millis(50), blocks).await,
            Err(Problem::TooSlow(Duration::from_millis(50)))
        );
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_of_the_handler_alone() {
        let panics = || async { panic!("no rule") };
        assert_eq!(
            run::<(), _>(Duration::from_secs(60), panics).await,
            Err(Problem::Panicked("no rule".to_owned()))
        );
        let panics_at_once = || -> std::future::Ready<()> { panic!("at once") };
        assert_eq!(
            run(Duration::from_secs(60), panics_at_once).await,
            Err(Problem::Panicked("at once".to_owned()))
        );
    }

    #[tokio::test]
    async fn nobody_waits_nobody_works() {
        struct Work(std::sync::mpsc::Sender<()>);
        let (sender, receiver) = std::sync::mpsc::channel();
        let work = Work(sender);
        let endless = move || async move {
            let _work = &work.0;
            std::future::pending::<()>().await;
        };
        let waiting = tokio::time::timeout(Duration::from_millis(50), run(Duration::MAX, endless));
        assert!(waiting.await.is_err());
        let dropped = tokio::task::spawn_blocking(move || receiver.recv_timeout(Duration::from_secs(60)));
        assert_eq!(dropped.await.unwrap(), Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}
