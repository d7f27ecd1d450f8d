//! Where and with what the measurements were made.

use std::fs;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    /// Load average over the last minute when the run began.
    pub load_begin: f64,
    /// When it ended.
    pub load_end: f64,
    /// What measuring no time costs.
    pub clock_ns: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Versions {
    pub larkspur: String,
    /// What was built, which the checkout need not be any more.
    pub commit: String,
    pub llguidance: String,
    pub toktrie: String,
    pub tiktoken_rs: String,
    pub rustc: String,
}

impl Machine {
    pub fn here() -> Self {
        Self {
            cpu: cpu_model(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load_begin: load(),
            load_end: 0.0,
            clock_ns: clock_ns(),
        }
    }

    /// For file names.
    pub fn short_name(&self) -> String {
        let mut name = String::new();
        for c in self.cpu.to_ascii_lowercase().chars() {
            if c.is_ascii_alphanumeric() {
                name.push(c);
            } else if !name.ends_with('-') {
                name.push('-');
            }
        }
        format!("{}-{}core", name.trim_matches('-'), self.cores)
    }
}

fn cpu_model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        (Some(name), ..) => name,
        _ => std::env::consts::ARCH.to_owned(),
    }
}

pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

fn clock_ns() -> u64 {
    (0..1000)
        .map(|_| {
            let start = Instant::now();
            start.elapsed().as_nanos() as u64
        })
        .min()
        .unwrap_or(0)
}

/// Bytes of memory in use by this process: now, and at most so far. 0 where the system does not say.
pub fn memory_bytes() -> (u64, u64) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line[name.len()..].trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    (field("VmRSS:").unwrap_or(0) * 1024, field("VmHWM:").unwrap_or(0) * 1024)
}

/// How often this thread has gone to sleep by itself, such as for a lock. 0 where the system does not say.
pub fn voluntary_switches() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

impl Versions {
    pub fn here() -> Self {
        let lock = include_str!("../../Cargo.lock");
        let version = |package: &str| {
            let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"\n")));
            let line = entry.and_then(|entry| entry.lines().find(|line| line.starts_with("version = ")));
            line.map_or("?", |line| line["version = ".len()..].trim_matches('"')).to_owned()
        };
        Self {
            larkspur: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("LARKSPUR_COMMIT").to_owned(),
            llguidance: version("llguidance"),
            toktrie: version("toktrie"),
            tiktoken_rs: version("tiktoken-rs"),
            rustc: command("rustc", &["--version"]),
        }
    }
}

fn command(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Today, as year-month-day.
pub fn date() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86_400) as i64;
    // H. Hinnant, "chrono-Compatible Low-Level Date Algorithms": civil_from_days.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
