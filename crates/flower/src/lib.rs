//! Keeps long agent runs from drowning in their own context: roles, guards, workbench, runtime.
