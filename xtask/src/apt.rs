//! Debian's package manager: for the system, and as a private instance that unpacks packages elsewhere and leaves the
//! system unchanged.

use crate::process::{self, which};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's public mirrors, for what this system's own sources do not name.
const MIRROR: &str = "http://deb.debian.org/debian";
const SECURITY_MIRROR: &str = "http://deb.debian.org/debian-security";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Installs packages on the system. Needs root, or a sudo that asks nothing.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let elevate = elevation()?;
    let arguments: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].into_iter().chain(packages.iter().copied()).collect();
    // The lists of a fresh machine are absent or old: fetch them where the first attempt fails.
    if process::output(&mut system(&elevate, &arguments)).is_ok() {
        return Ok(());
    }
    process::output(&mut system(&elevate, &["update"]))?;
    process::output(&mut system(&elevate, &arguments)).map(drop)
}

/// The words before a command that make root run it.
fn elevation() -> Result<Vec<&'static str>> {
    if process::output(Command::new("id").arg("-u"))?.trim() == "0" {
        return Ok(vec!["env"]);
    }
    let sudo = which(&["sudo"]).is_some() && process::output(Command::new("sudo").args(["-n", "true"])).is_ok();
    if sudo {
        Ok(vec!["sudo", "-n", "env"])
    } else {
        bail!("this user is not root, and sudo is absent or asks for a password")
    }
}

/// `apt-get` on the system. It waits until another one has ended.
fn system(elevate: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(elevate[0]);
    command.args(&elevate[1..]).args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=600"]);
    command.args(arguments);
    command
}

/// What `/etc/os-release` says about a Debian system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Debian {
    /// `bookworm`, ...
    pub(crate) codename: String,
}

impl Debian {
    /// The release of this system, if it is Debian.
    pub(crate) fn current() -> Option<Self> {
        Self::parse(&fs::read_to_string("/etc/os-release").ok()?)
    }

    fn parse(os_release: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = os_release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            Some(line.trim_matches('"').to_owned())
        };
        (field("ID")? == "debian").then_some(Self { codename: field("VERSION_CODENAME")? })
    }
}

/// A private apt: its own lists, cache and sources, and the system's list of what is installed.
#[derive(Debug)]
pub(crate) struct PrivateApt {
    directory: PathBuf,
    architectures: &'static [&'static str],
}

impl PrivateApt {
    /// Sets up a private apt in a new `directory`, with the given sources, and fetches their lists.
    pub(crate) fn new(directory: &Path, sources: &[String], architectures: &'static [&'static str]) -> Result<Self> {
        for sub in ["state/lists/partial", "cache/archives/partial", "parts"] {
            fs::create_dir_all(directory.join(sub))
                .with_context(|| format!("creating {}/{sub}", directory.display()))?;
        }
        fs::write(directory.join("sources.list"), sources.join("\n") + "\n")?;
        let apt = Self { directory: directory.to_owned(), architectures };
        process::output(apt.command("apt-get").args(["-qq", "update"]))?;
        Ok(apt)
    }

    /// `apt-get` or `apt-cache` with the options that make it private.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let directory = |key: &str, sub: &str| format!("{key}={}", self.directory.join(sub).display());
        let mut options = vec![
            directory("Dir::State", "state"),
            directory("Dir::Cache", "cache"),
            directory("Dir::Etc::sourcelist", "sources.list"),
            directory("Dir::Etc::sourceparts", "parts"),
            "Dir::State::status=/var/lib/dpkg/status".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
            "Debug::NoLocking=true".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::http::Timeout=20".to_owned(),
            "Acquire::https::Timeout=20".to_owned(),
            format!("APT::Architecture={}", self.architectures[0]),
        ];
        options.extend(self.architectures.iter().map(|architecture| format!("APT::Architectures::={architecture}")));
        command
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(options.iter().flat_map(|option| ["-o", option]));
        command
    }

    /// The newest version of a package.
    pub(crate) fn candidate(&self, package: &str) -> Result<String> {
        let policy = process::output(self.command("apt-cache").args(["policy", package]))?;
        candidate(&policy).with_context(|| format!("no source of this system offers the package {package}"))
    }

    /// Downloads packages, named `package`, `package:arch` or `package=version`, and unpacks them into `root`.
    pub(crate) fn unpack(&self, packages: &[String], root: &Path) -> Result<()> {
        let debs = self.directory.join("debs");
        fs::create_dir_all(&debs)?;
        process::output(self.command("apt-get").current_dir(&debs).args(["-qq", "download"]).args(packages))?;
        unpack_all(&debs, root)
    }

    /// Downloads a package and those of its dependencies that this system lacks, and unpacks them into `root`.
    pub(crate) fn unpack_with_dependencies(&self, package: &str, root: &Path) -> Result<()> {
        let arguments = ["-qq", "install", "--yes", "--download-only", "--no-install-recommends", package];
        process::output(self.command("apt-get").args(arguments))?;
        unpack_all(&self.directory.join("cache/archives"), root)
    }

    /// The packages that a downloaded package depends on, alternatives included.
    pub(crate) fn dependencies(&self, package: &str) -> Result<Vec<String>> {
        let text = process::output(self.command("apt-cache").args(["depends", "--important", package]))?;
        Ok(text.lines().filter_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned).collect())
    }
}

/// Unpacks every package of a directory, and removes it.
fn unpack_all(debs: &Path, root: &Path) -> Result<()> {
    for entry in fs::read_dir(debs)? {
        let deb = entry?.path();
        if deb.extension().is_some_and(|extension| extension == "deb") {
            process::output(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(root))?;
            fs::remove_file(deb)?;
        }
    }
    Ok(())
}

/// The source lines of this system's own mirrors for its release, its updates and its security updates, the latter two in
/// which newer compilers appear.
pub(crate) fn release_sources(debian: &Debian) -> Vec<String> {
    let codename = &debian.codename;
    let mut mirrors = mirrors(&index_targets(), codename);
    for (site, release) in [(MIRROR, codename.clone()), (SECURITY_MIRROR, format!("{codename}-security"))] {
        if !mirrors.iter().any(|(_, known)| *known == release) {
            mirrors.insert((site.to_owned(), release));
        }
    }
    mirrors.iter().map(|(site, release)| source(site, release)).collect()
}

/// The source line of the release's backports, from the mirror that this system takes the release from.
pub(crate) fn backports_source(debian: &Debian) -> String {
    let mirrors = mirrors(&index_targets(), &debian.codename);
    let site = mirrors.iter().find(|(_, release)| *release == debian.codename).map_or(MIRROR, |(site, _)| site);
    source(site, &format!("{}-backports", debian.codename))
}

/// The sites and releases of this system's sources, one on each line; empty if apt cannot list them.
fn index_targets() -> String {
    let arguments = ["indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"];
    process::output(Command::new("apt-get").args(arguments)).unwrap_or_default()
}

/// The sites and releases that belong to the given release.
fn mirrors(targets: &str, codename: &str) -> BTreeSet<(String, String)> {
    let wanted = ["", "-updates", "-security"].map(|suffix| format!("{codename}{suffix}"));
    let pairs = targets.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter(|(site, release)| site.contains("debian") && wanted.iter().any(|wanted| wanted == release))
        .map(|(site, release)| (site.to_owned(), release.to_owned()))
        .collect()
}

fn source(site: &str, release: &str) -> String {
    let signed = if Path::new(KEYRING).is_file() { format!("[signed-by={KEYRING}] ") } else { String::new() };
    format!("deb {signed}{} {release} main", site.trim_end_matches('/'))
}

/// The candidate version in the output of `apt-cache policy`.
fn candidate(policy: &str) -> Option<String> {
    let version = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: "))?;
    (version != "(none)").then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_is_known_by_its_os_release() {
        let bookworm = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        assert_eq!(Debian::parse(bookworm), Some(Debian { codename: "bookworm".into() }));
        assert_eq!(Debian::parse("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n"), None);
    }

    #[test]
    fn only_the_release_of_the_system_counts_as_a_mirror() {
        let targets = "http://mirror.example/debian bookworm\nhttp://mirror.example/debian bookworm\n\
                       http://security.example/debian-security bookworm-security\n\
                       https://packages.example/apt cloud-bookworm\nhttp://mirror.example/debian trixie\n";
        let found: Vec<_> =
            mirrors(targets, "bookworm").into_iter().map(|(site, release)| format!("{site} {release}")).collect();
        assert_eq!(
            found,
            ["http://mirror.example/debian bookworm", "http://security.example/debian-security bookworm-security"]
        );
    }

    #[test]
    fn a_candidate_of_none_is_none() {
        let policy = "qemu-user:\n  Installed: (none)\n  Candidate: 1:10.0.2+ds-2\n  Version table:\n";
        assert_eq!(candidate(policy).as_deref(), Some("1:10.0.2+ds-2"));
        assert_eq!(candidate("x:\n  Candidate: (none)\n"), None);
        assert_eq!(candidate(""), None);
    }

    #[test]
    fn a_source_names_site_and_release() {
        let line = source("http://mirror.example/debian/", "bookworm-backports");
        assert!(
            line.starts_with("deb ") && line.ends_with("http://mirror.example/debian bookworm-backports main"),
            "{line}"
        );
    }
}
