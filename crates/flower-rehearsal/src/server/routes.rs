//! Paths, headers and bodies: HTTP around [`super::answer`].

use super::answer::{self, Again, Answer, Break, Delivery};
use super::connection::Handle;
use super::state::{Kept, Shared};
use crate::digest::{digest, hex};
use crate::fault::{Fault, WrittenFault};
use crate::message::Message;
use crate::sse;
use crate::wire::{Caller, ErrorKind, Refusal};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State as Extract};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The API's limit for a body.
const MOST_BODY: usize = 32 * 1024 * 1024;

/// What is read of a larger body before the connection is given up, so that the client can read the refusal.
const MOST_DRAINED: usize = 256 * 1024 * 1024;

/// Time for written events to be read before a reset.
const SETTLE: Duration = Duration::from_millis(50);

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/rehearsal/state", get(state))
        .route("/rehearsal/clock", post(clock))
        .route("/rehearsal/faults", post(faults))
        .route("/", get(probe))
        .method_not_allowed_fallback(wrong_method)
        .fallback(unknown_path)
        .with_state(shared)
}

async fn messages(
    Extract(shared): Extract<Arc<Shared>>,
    ConnectInfo(connection): ConnectInfo<Handle>,
    request: Request,
) -> Response {
    let arrival = match Arrival::read(&shared, request).await {
        Ok(arrival) => arrival,
        Err(refusal) => return refused(&refusal, refusal.kind.status(), Again::Unsaid),
    };
    let caller = arrival.caller();
    match answer::message(&shared, &arrival.path, caller, &arrival.body).await {
        Answer::Message { message, delivery: Delivery::Whole, broken, .. } => {
            // A whole answer has no events to count: it breaks off before the first byte.
            match broken {
                None => {}
                Some(Break::Reset(_) | Break::Cut(_)) => connection.reset(),
                Some(Break::Stall(_)) => shared.stalled().await,
            }
            json_response(StatusCode::OK, &message.json())
        }
        Answer::Message { message, delivery: Delivery::Stream, pace, broken } => {
            stream(&shared, &message, pace, broken, connection)
        }
        Answer::Refused { refusal, status, again } => refused(&refusal, status, again),
        Answer::Reset => {
            connection.reset();
            json_response(StatusCode::OK, &Value::Null)
        }
        Answer::Stalled => {
            shared.stalled().await;
            connection.reset();
            json_response(StatusCode::OK, &Value::Null)
        }
        Answer::Away(time) => {
            // A task of its own: this connection is broken like all others, and what serves it ends with it.
            let leaves = tokio::spawn(async move {
                shared.presence.leave().await;
                tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    shared.presence.come_back().await;
                });
            });
            // Only a runtime that shuts down lets it fail.
            let _ = leaves.await;
            json_response(StatusCode::OK, &Value::Null)
        }
    }
}

async fn count_tokens(Extract(shared): Extract<Arc<Shared>>, request: Request) -> Response {
    let counted = match Arrival::read(&shared, request).await {
        Ok(arrival) => answer::token_count(&shared, &arrival.path, arrival.caller(), &arrival.body),
        Err(refusal) => Err(refusal),
    };
    match counted {
        Ok(count) => json_response(StatusCode::OK, &count),
        Err(refusal) => refused(&refusal, refusal.kind.status(), Again::Unsaid),
    }
}

async fn state(Extract(shared): Extract<Arc<Shared>>) -> Response {
    let state =
        serde_json::to_value(shared.state()).unwrap_or_else(|error| json!({"error": error.to_string()}));
    json_response(StatusCode::OK, &state)
}

async fn clock(Extract(shared): Extract<Arc<Shared>>, body: Bytes) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Advance {
        advance_seconds: f64,
    }
    let advance = serde_json::from_slice::<Advance>(&body).map_err(|error| error.to_string());
    let time = advance.and_then(|advance| {
        Duration::try_from_secs_f64(advance.advance_seconds).map_err(|error| error.to_string())
    });
    match time {
        Ok(time) => {
            shared.clock().advance(time);
            json_response(StatusCode::OK, &json!({"clock_seconds": shared.clock().now().as_secs_f64()}))
        }
        Err(error) => refused(
            &Refusal::invalid(format!("write {{\"advance_seconds\": 300}}: {error}")),
            400,
            Again::Unsaid,
        ),
    }
}

async fn faults(Extract(shared): Extract<Arc<Shared>>, body: Bytes) -> Response {
    match read_faults(&body) {
        Ok(None) => shared.clear_faults(),
        Ok(Some(faults)) => faults.into_iter().for_each(|fault| shared.inject(fault)),
        Err(reason) => return refused(&Refusal::invalid(reason), 400, Again::Unsaid),
    }
    json_response(StatusCode::OK, &json!({"faults_waiting": shared.state().faults_waiting}))
}

/// One fault, a list of faults, or `None` for `{"clear": true}`.
fn read_faults(body: &[u8]) -> Result<Option<Vec<Fault>>, String> {
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if value == json!({"clear": true}) {
        return Ok(None);
    }
    let written: Vec<WrittenFault> = match value {
        Value::Array(_) => serde_json::from_value(value).map_err(|error| error.to_string())?,
        one => vec![serde_json::from_value(one).map_err(|error| error.to_string())?],
    };
    written
        .into_iter()
        .map(|fault| Fault::try_from(fault).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()
        .map(Some)
}

async fn probe() -> Response {
    json_response(StatusCode::OK, &json!({}))
}

async fn wrong_method() -> Response {
    let refusal = Refusal::new(ErrorKind::MethodNotAllowed, "Method Not Allowed");
    refused(&refusal, 405, Again::Unsaid)
}

async fn unknown_path(Extract(shared): Extract<Arc<Shared>>) -> Response {
    shared.count_unknown_path();
    refused(&Refusal::new(ErrorKind::NotFound, "Not found"), 404, Again::Unsaid)
}

/// A request whose body has been read.
struct Arrival {
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

/// Headers that hold credentials; they are never kept.
const SECRET: &[&str] = &["x-api-key", "authorization", "cookie", "proxy-authorization"];

impl Arrival {
    async fn read(shared: &Shared, request: Request) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let path =
            parts.uri.path_and_query().map_or_else(|| parts.uri.path().to_owned(), ToString::to_string);
        let body = match read_body(body).await {
            Ok(body) => body,
            Err(refusal) => {
                shared.note_violation(0, &path, &refusal);
                return Err(refusal);
            }
        };
        let arrival = Self { path, headers: parts.headers, body };
        shared.arrived(arrival.kept());
        Ok(arrival)
    }

    fn kept(&self) -> Kept {
        let headers = self
            .headers
            .iter()
            .filter(|(name, _)| !SECRET.contains(&name.as_str()))
            .map(|(name, value)| {
                (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        Kept { path: self.path.clone(), headers, body: self.body.clone() }
    }

    fn caller(&self) -> Result<Caller, Refusal> {
        // The beta header may come in several lines.
        let betas = self.headers.get_all("anthropic-beta").iter();
        let betas = betas.filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",");
        Caller::from_headers(|name| match name {
            "anthropic-beta" => Some(betas.as_str()),
            _ => self.headers.get(name).and_then(|value| value.to_str().ok()),
        })
    }
}

async fn read_body(body: Body) -> Result<Bytes, Refusal> {
    let mut frames = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut length = 0usize;
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|error| Refusal::invalid(format!("the body broke off: {error}")))?;
        length = length.saturating_add(frame.len());
        if length > MOST_DRAINED {
            break;
        }
        if length <= MOST_BODY {
            bytes.extend_from_slice(&frame);
        } else {
            bytes = Vec::new();
        }
    }
    if length > MOST_BODY {
        return Err(Refusal::new(ErrorKind::RequestTooLarge, "Request exceeds the maximum size"));
    }
    Ok(bytes.into())
}

fn refused(refusal: &Refusal, status: u16, again: Again) -> Response {
    let request_id = request_id();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, &refusal.body(&request_id));
    set(&mut response, "request-id", &request_id);
    match again {
        Again::Unsaid => {}
        Again::After(seconds) => set(&mut response, "retry-after", &seconds.to_string()),
        // The vendor's client libraries and the harness heed it.
        Again::Never => set(&mut response, "x-should-retry", "false"),
    }
    response
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    set(&mut response, header::CONTENT_TYPE.as_str(), "application/json");
    set(&mut response, "request-id", &request_id());
    response
}

/// The events of a message, one frame each, broken off where a fault says.
fn stream(
    shared: &Arc<Shared>,
    message: &Message,
    pace: Duration,
    broken: Option<Break>,
    connection: Handle,
) -> Response {
    let mut events = sse::events(message);
    if let Some(Break::Cut(after) | Break::Reset(after) | Break::Stall(after)) = broken {
        events.truncate(after);
    }
    let end = match broken {
        None | Some(Break::Cut(_)) => None,
        Some(Break::Reset(_)) => Some(End::Reset),
        Some(Break::Stall(_)) => Some(End::Stalled(Arc::clone(shared))),
    };
    let frames = events.into_iter().map(Frame::Event).chain(end.map(Frame::End)).collect::<Vec<_>>();
    let body = futures_util::stream::iter(frames).then(move |frame| {
        let connection = connection.clone();
        async move {
            tokio::time::sleep(pace).await;
            match frame {
                Frame::Event(event) => return Ok(Bytes::from(event)),
                // Let the events before it reach the client: a reset would overtake them.
                Frame::End(End::Reset) => tokio::time::sleep(SETTLE).await,
                Frame::End(End::Stalled(shared)) => shared.stalled().await,
            }
            connection.reset();
            Err(io::Error::from(io::ErrorKind::ConnectionReset))
        }
    });
    let mut response = Response::new(Body::from_stream(body));
    set(&mut response, header::CONTENT_TYPE.as_str(), "text/event-stream; charset=utf-8");
    set(&mut response, header::CACHE_CONTROL.as_str(), "no-cache");
    set(&mut response, "request-id", &request_id());
    response
}

/// One piece of a stream.
enum Frame {
    Event(String),
    /// An end that is not in good order.
    End(End),
}

enum End {
    Reset,
    Stalled(Arc<Shared>),
}

fn set(response: &mut Response, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// A new id for each answer of this process.
fn request_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("req_{}", hex(&digest(&[&number.to_le_bytes()]), 12))
}
