//! What the end of a hook command means (see [`outcome_of`]).
