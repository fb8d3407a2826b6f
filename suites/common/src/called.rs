//! Name with which the user called this program, for printed commands.

use std::sync::OnceLock;

/// Environment variable that `cargo xtask` sets when it starts the program.
pub const VARIABLE: &str = "TIEBREAK_CALLED_AS";

/// Name after a start by `cargo xtask`, and name after a direct start.
const FRONT: &str = "cargo xtask";
const DIRECT: &str = "tiebreak";

/// Returns `cargo xtask` in a clone of the repository, otherwise `tiebreak`. Printed commands begin with this name, because an installed program runs
/// without `cargo xtask`.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<&str> = OnceLock::new();
    PROGRAM.get_or_init(|| if std::env::var_os(VARIABLE).is_some_and(|words| words == FRONT) { FRONT } else { DIRECT })
}

/// Formats a command that only a clone of the project has, between backticks. An installed program adds where to run the command.
pub fn in_clone(command: &str) -> String {
    let place = if program() == FRONT { "" } else { "in a clone of the project, " };
    format!("{place}`{FRONT} {command}`")
}
