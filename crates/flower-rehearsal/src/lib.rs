//! A scripted Messages API on the loopback interface: validator, prompt-cache model, scenarios, faults, recorder.
