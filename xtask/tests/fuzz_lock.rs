//! Lock file of the fuzz targets, a separate workspace. A new dependency of the workspace was once missing in it, so `cargo xtask fuzz` changed a
//! committed file.

use std::path::Path;
use std::process::Command;

#[test]
fn the_lock_file_of_the_fuzz_targets_is_in_step() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let metadata = |more: &[&str]| {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]);
        command.arg(root.join("fuzz/Cargo.toml")).args(more).current_dir(root).output().expect("cargo starts")
    };
    // Packages that no other build has downloaded are downloaded here.
    let output =
        Some(metadata(&["--offline"])).filter(|output| output.status.success()).unwrap_or_else(|| metadata(&[]));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "`cargo metadata --manifest-path fuzz/Cargo.toml` brings it there: commit it\n{message}"
    );
}
