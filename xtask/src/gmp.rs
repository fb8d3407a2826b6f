//! GMP of the distribution, so that a fresh build does not compile GMP, which takes one and a half minutes of CPU.
//!
//! The build script of the package `gmp-mpfr-sys` looks into a cache before it compiles GMP (`GMP_MPFR_SYS_CACHE` in its documentation), and refuses a
//! library of another version. A copy of the library of `libgmp-dev` in that cache is used by every build of this user, with and without `xtask`.

use crate::process;
use crate::workspace::{Host, Workspace};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Package of Debian and Ubuntu with the header and the static library.
pub(crate) const PACKAGE: &str = "libgmp-dev";

/// Package whose build script compiles GMP.
const CRATE: &str = "gmp-mpfr-sys";

/// Least release of GMP that the build script takes; the first number must be the same.
const LEAST: [u32; 3] = [6, 3, 0];

/// Returns the place of the library in the cache, if a copy is of use there: the cache has none, and the environment asks for no GMP of its own.
pub(crate) fn wanted(workspace: &Workspace, host: Host) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name);
    if host.os != "linux" || set("CC").is_some() || set("CFLAGS").is_some() {
        return None;
    }
    let lock = fs::read_to_string(workspace.root.join("Cargo.lock")).ok()?;
    let place = place(&cache(set)?, &locked(&lock)?, host);
    (!place.join("libgmp.a").is_file()).then_some(place)
}

/// Returns the cache of the build script; `None` if the caller switched it off.
fn cache(set: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match set("GMP_MPFR_SYS_CACHE") {
        Some(off) if off.is_empty() || off == "_" => None,
        Some(own) => Some(own.into()),
        None => {
            let base =
                set("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(Path::new(&set("HOME")?).join(".cache")));
            Some(base?.join(CRATE))
        }
    }
}

/// Returns the version of the package in a lock file.
fn locked(lock: &str) -> Option<String> {
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{CRATE}\"")))?;
    package.lines().find_map(|line| Some(line.strip_prefix("version = \"")?.trim_end_matches('"').to_owned()))
}

/// Returns the directory of a version and host in the cache.
fn place(cache: &Path, version: &str, host: Host) -> PathBuf {
    let series = version.rsplit_once('.').map_or(version, |(series, _)| series);
    let target = format!("{}-unknown-linux-gnu", host.arch);
    [series, &target, version, "c-no-tests"].iter().fold(cache.to_owned(), |at, part| at.join(part))
}

/// True if the distribution's release of GMP is new enough, by the lists of its package manager.
pub(crate) fn is_offered() -> bool {
    let shown = process::output(Command::new("apt-cache").args(["show", "--no-all-versions", PACKAGE]));
    shown.is_ok_and(|shown| {
        let version = shown.lines().find_map(|line| line.strip_prefix("Version: "));
        version.and_then(release).is_some_and(suits)
    })
}

/// Reads the release in the version of a Debian package: `2:6.3.0+dfsg-3`.
fn release(version: &str) -> Option<[u32; 3]> {
    let upstream = version.split_once(':').map_or(version, |(_, upstream)| upstream);
    let numbers = upstream.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let numbers: Vec<u32> = numbers.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Reads the release in a header of GMP.
fn of_header(header: &str) -> Option<[u32; 3]> {
    let number = |name: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
        line.filter(|rest| rest.starts_with(char::is_whitespace))?.trim().parse().ok()
    };
    Some([number("__GNU_MP_VERSION")?, number("__GNU_MP_VERSION_MINOR")?, number("__GNU_MP_VERSION_PATCHLEVEL")?])
}

fn suits(release: [u32; 3]) -> bool {
    release[0] == LEAST[0] && release >= LEAST
}

/// Copies header and library of the installed package into the cache. Fails if a program cannot be linked with the library.
pub(crate) fn take(place: &Path, host: Host) -> Result<String> {
    let multiarch = format!("{}-linux-gnu", host.arch);
    let header = Path::new("/usr/include").join(&multiarch).join("gmp.h");
    let library = Path::new("/usr/lib").join(&multiarch).join("libgmp.a");
    let text = fs::read_to_string(&header).with_context(|| format!("reading {}", header.display()))?;
    let release = of_header(&text).filter(|release| suits(*release)).context("another release of GMP")?;
    fs::create_dir_all(place).with_context(|| format!("creating {}", place.display()))?;
    linked(place, &library)?;
    // The library comes last, because its presence means that the entry is whole.
    for (from, name) in [(&header, "gmp.h"), (&library, "libgmp.a")] {
        fs::copy(from, place.join(name))
            .with_context(|| format!("copying {} to {}", from.display(), place.display()))?;
    }
    Ok(release.map(|number| number.to_string()).join("."))
}

/// Links a position-independent program, which Rust's programs are, with the library.
fn linked(place: &Path, library: &Path) -> Result<()> {
    let [source, program] = ["try.c", "try"].map(|name| place.join(name));
    let text = "#include <gmp.h>\nint main(void) { mpz_t a; mpz_init_set_ui(a, 6); mpz_mul(a, a, a); return mpz_cmp_ui(a, 36); }\n";
    fs::write(&source, text)?;
    let mut cc = Command::new("cc");
    cc.args(["-fPIE", "-pie", "-Wl,--fatal-warnings", "-o"]).args([&program, &source]).arg(library);
    let tried = process::output(&mut cc).and_then(|_| process::output(&mut Command::new(&program)));
    for file in [&source, &program] {
        let _ = fs::remove_file(file);
    }
    if let Err(error) = tried {
        bail!("a program with {} does not run: {error:#}", library.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_where_the_build_script_looks() {
        let lock = "[[package]]\nname = \"gmp\"\nversion = \"9.9.9\"\n\n[[package]]\nname = \"gmp-mpfr-sys\"\nversion = \"1.7.1\"\n";
        assert_eq!(locked(lock).as_deref(), Some("1.7.1"));
        let host = Host { arch: "x86_64", os: "linux" };
        let home = |name: &str| (name == "HOME").then(|| OsString::from("/home/a"));
        let cache = cache(home).expect("a home");
        let expected = "/home/a/.cache/gmp-mpfr-sys/1.7/x86_64-unknown-linux-gnu/1.7.1/c-no-tests";
        assert_eq!(place(&cache, "1.7.1", host), Path::new(expected));
    }

    #[test]
    fn a_cache_of_the_caller_is_used_or_left_alone() {
        let given =
            |value: &'static str| move |name: &str| (name == "GMP_MPFR_SYS_CACHE").then(|| OsString::from(value));
        assert_eq!(cache(given("/elsewhere")), Some("/elsewhere".into()));
        assert_eq!([cache(given("")), cache(given("_"))], [None, None]);
        assert_eq!(cache(|_| None), None);
    }

    #[test]
    fn releases_are_read_from_packages_and_headers() {
        assert_eq!(release("2:6.3.0+dfsg-3"), Some([6, 3, 0]));
        assert_eq!(release("2:6.2.1+dfsg1-1.1"), Some([6, 2, 1]));
        assert_eq!(release("7"), None);
        let header = "#define __GNU_MP_VERSION            6\n#define __GNU_MP_VERSION_MINOR      3\n#define __GNU_MP_VERSION_PATCHLEVEL 0\n";
        assert_eq!(of_header(header), Some([6, 3, 0]));
        assert_eq!(of_header("#define __GNU_MP__ 6\n"), None);
        assert_eq!([[6, 3, 0], [6, 3, 1], [6, 2, 1], [7, 0, 0]].map(suits), [true, true, false, false]);
    }

    /// The place is that of the lock file of this workspace.
    #[test]
    fn this_workspace_locks_the_package() {
        let lock = fs::read_to_string(crate::workspace::own_root().join("Cargo.lock")).expect("a lock file");
        assert!(locked(&lock).is_some_and(|version| version.split('.').count() == 3));
    }
}
