//! Entry point of the program `tiebreak`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tiebreak_memory::prepare();
    tiebreak_suites::cli::main()
}
