//! The error answers of the API: kind, status and body.

use serde_json::{Value, json};

/// The error types that the vendor documents, each with its HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// 400: the request is wrong and will be wrong again.
    InvalidRequest,
    /// 401: no usable key.
    Authentication,
    /// 402: the account cannot pay.
    Billing,
    /// 403: the key may not do this.
    Permission,
    /// 404: no such path or no such model.
    NotFound,
    /// 405: the path is there, the method is not.
    MethodNotAllowed,
    /// 413: the body is over 32 MB.
    RequestTooLarge,
    /// 429: too many requests.
    RateLimit,
    /// 500: the server's own fault; here also a scenario that cannot go on.
    Api,
    /// 504: took too long.
    Timeout,
    /// 529: too much load.
    Overloaded,
}

impl ErrorKind {
    /// The HTTP status that goes with this kind.
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::Authentication => 401,
            Self::Billing => 402,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::RequestTooLarge => 413,
            Self::RateLimit => 429,
            Self::Api => 500,
            Self::Timeout => 504,
            Self::Overloaded => 529,
        }
    }

    /// The `error.type` that goes with this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest | Self::MethodNotAllowed => "invalid_request_error",
            Self::Authentication => "authentication_error",
            Self::Billing => "billing_error",
            Self::Permission => "permission_error",
            Self::NotFound => "not_found_error",
            Self::RequestTooLarge => "request_too_large",
            Self::RateLimit => "rate_limit_error",
            Self::Api => "api_error",
            Self::Timeout => "timeout_error",
            Self::Overloaded => "overloaded_error",
        }
    }

    /// The kind that the API reports with an HTTP status; unknown ones are the server's own fault.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Authentication,
            402 => Self::Billing,
            403 => Self::Permission,
            404 => Self::NotFound,
            405 => Self::MethodNotAllowed,
            413 => Self::RequestTooLarge,
            429 => Self::RateLimit,
            400..=499 => Self::InvalidRequest,
            504 => Self::Timeout,
            529 => Self::Overloaded,
            _ => Self::Api,
        }
    }
}

/// An error answer: what the API says instead of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error type.
    pub kind: ErrorKind,
    /// The text for the caller, naming the field where there is one.
    pub message: String,
}

impl Refusal {
    /// An error of any kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The common one: 400 `invalid_request_error`.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidRequest, message)
    }

    /// The body as the API writes it.
    ///
    /// ```
    /// use flower_rehearsal::wire::Refusal;
    /// let body = Refusal::invalid("max_tokens: Field required").body("req_1");
    /// assert_eq!(body["error"]["type"], "invalid_request_error");
    /// assert_eq!(body["request_id"], "req_1");
    /// ```
    pub fn body(&self, request_id: &str) -> Value {
        json!({
            "type": "error",
            "error": { "type": self.kind.name(), "message": self.message },
            "request_id": request_id,
        })
    }
}
