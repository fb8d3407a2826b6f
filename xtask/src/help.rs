//! Help of the commands of `tiebreak`, from one file each in `xtask/help`. A test compares the files with the output of `tiebreak`. Help therefore
//! needs no tool and no build except that of this program.

use crate::forward;
use std::ffi::OsString;
use std::path::Path;

/// Returns the command whose help a command line requests, as words: `verify --help`, `help explain fpm`.
pub(crate) fn asked(arguments: &[OsString]) -> Option<Vec<String>> {
    let words: Vec<String> = arguments.iter().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let (first, rest) = words.split_first()?;
    let command = if first == "help" { rest } else { &words[..] };
    let own = rest.iter().take_while(|word| *word != "--");
    let wanted = first == "help" || own.into_iter().any(|word| word == "--help" || word == "-h");
    let forwarded = forward::FORWARDED.iter().any(|forwarded| command.first().is_some_and(|w| w == forwarded.name));
    (wanted && forwarded).then(|| command.iter().take_while(|word| !word.starts_with('-')).cloned().collect())
}

/// Returns the help of the longest command with a file that these words begin with.
pub(crate) fn text(root: &Path, words: &[String]) -> Option<String> {
    let file = |n: usize| root.join("xtask/help").join(words[..n].join("-") + ".txt");
    (1..=words.len()).rev().find_map(|n| std::fs::read_to_string(file(n)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_by(words: &[&str]) -> Option<String> {
        asked(&words.iter().map(OsString::from).collect::<Vec<_>>()).map(|words| words.join(" "))
    }

    #[test]
    fn help_is_asked_for_in_each_way() {
        let is = |line: &[&str], words: &str| assert_eq!(asked_by(line).as_deref(), Some(words), "{line:?}");
        is(&["xtask", "verify", "--help"], "verify");
        is(&["xtask", "verify", "--op", "fpm", "-h"], "verify");
        is(&["xtask", "explain", "fpm", "--x", "1", "--help"], "explain fpm");
        is(&["xtask", "help", "verify"], "verify");
        is(&["xtask", "help", "explain", "fpm"], "explain fpm");
        for line in [
            &["xtask"][..],
            &["xtask", "help"],
            &["xtask", "--help"],
            &["xtask", "verify"],
            &["xtask", "verify", "--", "--help"],
            &["xtask", "test", "--help"],
            &["xtask", "help", "test"],
            &["xtask", "help", "verfy"],
        ] {
            assert_eq!(asked_by(line), None, "{line:?}");
        }
    }

    #[test]
    fn every_forwarded_command_has_help() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        for forwarded in forward::FORWARDED {
            let text = text(root, &[forwarded.name.to_owned()]).unwrap_or_default();
            assert!(text.contains(&format!("Usage: cargo xtask {}", forwarded.name)), "{}: {text}", forwarded.name);
        }
        let words = ["explain", "fpm", "anything"].map(str::to_owned);
        assert!(text(root, &words).is_some_and(|text| text.contains("Usage: cargo xtask explain fpm")));
    }
}
