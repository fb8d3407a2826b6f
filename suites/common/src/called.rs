//! Words with which a user calls this program, for commands that it prints.

use std::sync::OnceLock;

/// Environment variable in which `cargo xtask` says that it started the program.
pub const VARIABLE: &str = "TIEBREAK_CALLED_AS";

/// The words of a call by way of `cargo xtask`, and of one without.
const FRONT: &str = "cargo xtask";
const DIRECT: &str = "tiebreak";

/// `cargo xtask` in a clone of the repository, otherwise `tiebreak`. A printed command begins with it, because an installed program runs where
/// there is no `cargo xtask`.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<&str> = OnceLock::new();
    PROGRAM.get_or_init(|| if std::env::var_os(VARIABLE).is_some_and(|words| words == FRONT) { FRONT } else { DIRECT })
}

/// A command that only a clone of the project has, between backticks; an installed program says where.
pub fn in_clone(command: &str) -> String {
    let place = if program() == FRONT { "" } else { "in a clone of the project, " };
    format!("{place}`{FRONT} {command}`")
}
