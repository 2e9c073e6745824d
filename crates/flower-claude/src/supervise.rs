//! Runs foreign code: a handler of the host, with a deadline, its panics caught.

use std::any::Any;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::hooks::Problem;

/// Runs `work` as a task of its own and waits for it at most until `deadline`. Dropping the returned future stops it.
pub(crate) async fn run<T, F>(deadline: Duration, work: F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut task = AbortOnDrop(tokio::spawn(work));
    match tokio::time::timeout(deadline, &mut task.0).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) if error.is_panic() => Err(Problem::Panicked(panic_text(error.into_panic().as_ref()))),
        Ok(Err(error)) => Err(Problem::Failed(error.to_string())),
        Err(_) => Err(Problem::TooSlow(deadline)),
    }
}

/// A task that ends with its owner.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned())
}
