//! Figures of a session, computed from its entries.
