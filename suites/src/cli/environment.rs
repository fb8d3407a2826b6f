//! Time and place of a run, for its ledger.

use super::{built, date};
use std::time::SystemTime;
use tiebreak_reports::ledger::Environment;

/// Describes a run that starts now.
pub(super) fn now() -> Environment {
    Environment {
        date: date::of(SystemTime::now()),
        commit: built::commit(),
        sources: built::sources(),
        cpu: cpu(),
        threads: std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// Returns the model of the first processor. `None` if the system does not name the model.
#[cfg(target_os = "linux")]
fn cpu() -> Option<String> {
    use procfs::Current;
    let info = procfs::CpuInfo::current().ok()?;
    // On aarch64, numbers replace the name.
    let numbers = || {
        Some(format!("implementer {}, part {}", info.get_field(0, "CPU implementer")?, info.get_field(0, "CPU part")?))
    };
    info.model_name(0).map(str::to_owned).or_else(numbers)
}

#[cfg(target_os = "macos")]
fn cpu() -> Option<String> {
    let output = std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn cpu() -> Option<String> {
    None
}
