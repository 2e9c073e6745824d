//! Transcripts of Claude Code: entries, threads, messages.
