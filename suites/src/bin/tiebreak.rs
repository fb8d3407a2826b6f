//! The program `tiebreak`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiebreak_suites::cli::main()
}
