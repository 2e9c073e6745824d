//! What a failure is: its class says what to do about it, its cause what to tell people.

use flower_context::Lang;
use serde::Serialize;

/// What to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "class", content = "cause")]
#[non_exhaustive]
pub enum Class {
    /// It passes by itself: wait for it patiently, then resume.
    Transient(Cause),
    /// The context takes no more: hand off. Waiting changes nothing.
    ContextFull(Cause),
    /// The API refuses thinking blocks of the history: take all of them out, once, and resume.
    ThinkingRefused,
    /// It does not pass by itself: stop and say so.
    Fatal(Cause),
    /// Somebody interrupted the turn. Not a failure of anything.
    Interrupted,
    /// Nothing says what it is: try a few times, then stop.
    Unknown(Cause),
}

impl Class {
    /// Why, whatever is to be done about it.
    pub fn cause(self) -> Cause {
        match self {
            Self::Transient(cause) | Self::ContextFull(cause) | Self::Fatal(cause) | Self::Unknown(cause) => {
                cause
            }
            Self::ThinkingRefused => Cause::ThinkingRefused,
            Self::Interrupted => Cause::Interrupted,
        }
    }
}

/// Declares the causes with their word and their texts, so that none can be without one.
macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident: $word:literal, $en:literal, $zh:literal;)*) => {
        /// Why a turn or a harness failed. Written to events and manifests as a word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Cause {
            $($(#[$doc])* #[serde(rename = $word)] $name,)*
        }

        impl Cause {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word in events and manifests.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// What people read, without a full stop; behind it goes what the harness said itself.
            pub fn text(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $((Self::$name, Lang::En) => $en, (Self::$name, Lang::Zh) => $zh,)*
                }
            }
        }
    };
}

causes! {
    /// 429: more requests than the account may send now, or a plan's allowance is used up until it renews.
    RateLimit: "rate_limit", "the API refuses more requests for now", "API 暂时拒绝更多请求";
    /// 529, or a load error without that status.
    Overloaded: "overloaded", "the API is overloaded", "API 过载";
    /// 5xx: the other side is broken.
    ServerError: "server_error", "the API has failed", "API 出错";
    /// 408, 504 and requests that nobody answered in time.
    Timeout: "timeout", "the API did not answer in time", "API 没有及时应答";
    /// No connection, or one that broke off.
    Connection: "connection", "there is no connection to the API", "无法连接 API";
    /// The host name of the API is not known: no network, or no name service.
    NameService: "name_service", "the host name of the API cannot be looked up", "无法解析 API 的主机名";
    /// The connection is not trusted: a certificate, or something between us and the API.
    Tls: "tls", "the connection to the API is not trusted", "与 API 的连接不可信";
    /// Something between us and the API answered in its place: a proxy, a gateway, a login page of a network.
    Between: "between", "something between here and the API answers in its place", "有中间设备代替 API 作答";
    /// The machine slept.
    Slept: "slept", "the machine slept", "机器曾进入睡眠";
    /// An answer that broke off and was taken for a whole one.
    AnswerCut: "answer_cut", "the last answer broke off", "最后的回答中途断了";
    /// An answer without content, or one that the harness could not use.
    AnswerUnusable: "answer_unusable", "the answer was empty or unusable", "回答为空或无法使用";
    /// Nothing came from the harness for too long.
    Silent: "silent", "nothing came from the harness for too long", "harness 太久没有任何消息";
    /// The harness ended by itself in the middle of its work.
    HarnessCrashed: "harness_crashed", "the harness broke off", "harness 中途退出";
    /// Somebody ended the harness: a signal.
    HarnessKilled: "harness_killed", "the harness was killed", "harness 被杀死";
    /// The harness ended before it had said anything.
    HarnessNeverBegan: "harness_never_began", "the harness refused to start", "harness 未能启动";
    /// The prompt is longer than the model's window.
    PromptTooLong: "prompt_too_long", "the prompt is too long for the model", "提示超过模型的窗口";
    /// The harness itself refuses to ask more: the window is nearly full.
    Blocked: "blocking_limit", "the context is full", "上下文已满";
    /// What compaction leaves fills the window again at once.
    RefilledTooFast: "refilled_too_fast", "the context fills up again at once", "上下文一压缩就又满了";
    /// 413: the request is over 32 MB, mostly images.
    RequestTooLarge: "request_too_large", "the request is too large", "请求太大";
    /// Thinking blocks of the history are refused.
    ThinkingRefused: "thinking_refused", "the API refuses thinking blocks of this history", "API 拒绝此历史中的思考块";
    /// The API refuses the request as it is.
    RequestRefused: "request_refused", "the API refuses the request", "API 拒绝此请求";
    /// No login, a wrong key, or one that may not do this.
    Authentication: "authentication", "the login or key is not accepted", "登录或密钥未被接受";
    /// No money: credit, a spending limit, a plan without this model.
    Billing: "billing", "the account cannot pay for this", "账户无法为此付费";
    /// No such model, or not for this account.
    ModelNotFound: "model_not_found", "the model does not exist or is not available", "模型不存在或不可用";
    /// A policy of the organisation or the vendor forbids it.
    Policy: "policy", "a policy forbids this", "被策略禁止";
    /// The API wants a newer harness.
    HarnessTooOld: "harness_too_old", "the API asks for a newer harness", "API 要求更新的 harness";
    /// A setting of the harness that it does not accept itself.
    Settings: "settings", "the harness does not accept its settings", "harness 不接受其设置";
    /// The session is not where the harness looks for it.
    NoSession: "no_session", "the harness does not find the session", "harness 找不到该会话";
    /// The harness's own limit on turns.
    TurnLimit: "turn_limit", "the limit on turns is reached", "已达轮次上限";
    /// The harness's own budget.
    HarnessBudget: "harness_budget", "the harness's budget is spent", "harness 的预算已用完";
    /// Somebody interrupted the turn.
    Interrupted: "interrupted", "the turn was interrupted", "该轮被中断";
    /// Nothing says why.
    Unclear: "unclear", "the turn failed for a reason that is not known", "该轮因未知原因失败";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cause_has_a_word_and_texts_of_its_own() {
        for of in [Cause::word, |cause| cause.text(Lang::En), |cause| cause.text(Lang::Zh)] as [fn(_) -> _; 3]
        {
            let texts: BTreeSet<&str> = Cause::ALL.iter().copied().map(of).collect();
            assert_eq!(texts.len(), Cause::ALL.len());
            assert!(texts.iter().all(|text| !text.is_empty()));
        }
    }
}
