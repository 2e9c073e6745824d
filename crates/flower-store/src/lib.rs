//! Session stores: what the harness said, kept byte for byte, and the manifest of runs.
