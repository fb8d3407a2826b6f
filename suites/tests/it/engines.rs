//! Jobs that `plan --for` writes, run by the engines: a private Slurm cluster and GNU parallel.

use crate::common::*;
use crate::shards::{direct, timeless};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Census that takes seconds in each of three shards.
const SPACE: [&str; 10] = [
    "census",
    "--space=q31",
    "--left=ties-up",
    "--right=sqrdmulh-srshl",
    "--shift=-8",
    "--multipliers=1073741824..1113741823",
    "--chunk=100000",
    "--jobs=1",
    "--commit=test",
    "--format=csv",
];
const VERIFY: [&str; 5] = ["verify", "--op=transform", "--op=dot", "--lane=host", "--effort=quick"];

/// Returns the search path with the directory of the program first, because a job calls the program by name.
fn path() -> std::ffi::OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_tiebreak")).parent().expect("a directory").to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([own].into_iter().chain(std::env::split_paths(&others))).expect("a path")
}

/// True if the system has this program.
fn found(name: &str) -> bool {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&directories).chain([PathBuf::from("/usr/sbin")]).any(|dir| dir.join(name).is_file())
}

#[track_caller]
fn exits(output: &Output, code: i32) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(code), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn call(dir: &Path, arguments: &[&str]) -> String {
    exits(&direct().args(arguments).current_dir(dir).output().expect("tiebreak starts"), 0)
}

/// Writes the job that `plan` prints to a file of the directory.
fn job(dir: &Path, engine: &str, shards: u32, run: &[&str], out: &str) -> PathBuf {
    let options = [format!("--for={engine}"), format!("--shards={shards}"), format!("--out={out}")];
    let [engine, shards, place] = options.each_ref().map(String::as_str);
    let text = call(dir, &[&["plan", engine, shards, place, "--sample=0"], run].concat());
    let file = dir.join(format!("{}.sh", run[0]));
    fs::write(&file, text).expect("a job");
    file
}

/// Private cluster, whose daemons end with the test.
struct Cluster {
    dir: TempDir,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            // The daemon may have ended already.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Cluster {
    /// Starts a controller and a node with two processors on this machine, with separate keys and sockets.
    fn start() -> Self {
        let dir = TempDir::with_prefix("tb-slurm").expect("a temporary directory");
        let at = |name: &str| dir.path().join(name).display().to_string();
        for name in ["state", "spool", "munge"] {
            fs::create_dir(at(name)).expect("a directory");
        }
        private(Path::new(&at("munge")), 0o700);
        private(dir.path(), 0o755);
        let mut key = fs::File::create(at("munge/key")).expect("a key");
        key.write_all(&[seed() as u8; 1024]).expect("a key");
        private(Path::new(&at("munge/key")), 0o400);
        fs::write(at("slurm.conf"), configuration(&at)).expect("a configuration");
        let mut cluster = Self { daemons: Vec::new(), dir };
        let socket = at_of(&cluster, "munge.socket");
        let option = |name: &str, file: &str| format!("--{name}={}", at_of(&cluster, file));
        let munge = [
            "--foreground".to_owned(),
            option("socket", "munge.socket"),
            option("key-file", "munge/key"),
            option("pid-file", "munge/pid"),
            option("log-file", "munge/log"),
            option("seed-file", "munge/seed"),
        ];
        cluster.daemon("munged", &munge.each_ref().map(String::as_str));
        wait_for("munged listens", || Path::new(&socket).exists().then_some(()));
        cluster.daemon("slurmctld", &["-D", "-c"]);
        cluster.daemon("slurmd", &["-D", "-N", "localhost"]);
        wait_for("the node is idle", || {
            cluster.says("sinfo", &["--noheader", "--format=%t"]).trim().eq("idle").then_some(())
        });
        cluster
    }

    fn daemon(&mut self, name: &str, arguments: &[&str]) {
        let log = fs::File::create(at_of(self, &format!("{name}.out"))).expect("a file");
        let both = log.try_clone().expect("a file");
        let child = self.command(name).args(arguments).stdin(Stdio::null()).stdout(log).stderr(both).spawn();
        self.daemons.push(child.unwrap_or_else(|e| panic!("{name}: {e}")));
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        let path = std::env::join_paths(std::env::split_paths(&path()).chain([PathBuf::from("/usr/sbin")]));
        command
            .env_remove("TIEBREAK_CALLED_AS")
            .env("SLURM_CONF", at_of(self, "slurm.conf"))
            .env("PATH", path.expect("a path"));
        command
    }

    fn says(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.command(name).args(arguments).output().unwrap_or_else(|e| panic!("{name}: {e}"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Submits a job, and returns the number of the merge.
    fn submit(&self, dir: &Path, job: &Path) -> String {
        let output = self.command("bash").arg(job).current_dir(dir).output().expect("bash starts");
        let numbers = exits(&output, 0);
        numbers.trim().rsplit(' ').next().expect("two numbers").to_owned()
    }

    /// Waits for a job, which must succeed.
    fn wait(&self, job: &str, dir: &Path) {
        let state = || {
            let said = self.says("scontrol", &["show", "job", job]);
            said.split_whitespace().find_map(|word| word.strip_prefix("JobState=").map(str::to_owned))
        };
        let ended = wait_for("the merge has ended", || {
            state().filter(|state| !["PENDING", "RUNNING", "COMPLETING", "CONFIGURING"].contains(&state.as_str()))
        });
        let log = fs::read_to_string(dir.join("merge.log")).unwrap_or_default();
        assert_eq!(ended, "COMPLETED", "{log}");
    }
}

fn at_of(cluster: &Cluster, name: &str) -> String {
    cluster.dir.path().join(name).display().to_string()
}

fn private(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it can be changed");
}

fn configuration(at: &dyn Fn(&str) -> String) -> String {
    let ports = [(), ()].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let [controller, node] = ports.each_ref().map(|port| port.local_addr().expect("an address").port());
    let user = Command::new("id").arg("-un").output().expect("a name").stdout;
    let user = String::from_utf8_lossy(&user).trim().to_owned();
    let lines = [
        "ClusterName=tiebreak".to_owned(),
        "SlurmctldHost=localhost".to_owned(),
        format!("SlurmctldPort={controller}"),
        format!("SlurmdPort={node}"),
        "AuthType=auth/munge".to_owned(),
        // A requeued job waits until its credential expires, 120 seconds by default.
        format!("AuthInfo=socket={},cred_expire=5", at("munge.socket")),
        format!("SlurmUser={user}"),
        format!("SlurmdUser={user}"),
        format!("StateSaveLocation={}", at("state")),
        format!("SlurmdSpoolDir={}", at("spool")),
        format!("SlurmctldPidFile={}", at("slurmctld.pid")),
        format!("SlurmdPidFile={}", at("slurmd.pid")),
        format!("SlurmctldLogFile={}", at("slurmctld.log")),
        format!("SlurmdLogFile={}", at("slurmd.log")),
        "ProctrackType=proctrack/linuxproc".to_owned(),
        "TaskPlugin=task/none".to_owned(),
        "JobAcctGatherType=jobacct_gather/none".to_owned(),
        "AccountingStorageType=accounting_storage/none".to_owned(),
        "MpiDefault=none".to_owned(),
        "SwitchType=switch/none".to_owned(),
        "SelectType=select/cons_tres".to_owned(),
        "SelectTypeParameters=CR_Core".to_owned(),
        "ReturnToService=2".to_owned(),
        "SchedulerParameters=bf_interval=1,sched_interval=1".to_owned(),
        "MailProg=/bin/true".to_owned(),
        "NodeName=localhost CPUs=2".to_owned(),
        "PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP".to_owned(),
    ];
    lines.join("\n") + "\n"
}

/// Returns the process of `tiebreak` that writes a file.
fn writer(file: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    processes.into_iter().find_map(|process| {
        let number = process.file_name().to_str()?.parse().ok()?;
        let words = fs::read(process.path().join("cmdline")).ok()?;
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        (words.first()?.ends_with(b"tiebreak") && words.contains(&file.as_bytes())).then_some(number)
    })
}

/// One of three array elements is killed while running, and a merge waits for all. The ledger equals that of one process.
#[test]
fn slurm_runs_the_printed_job_and_an_element_that_is_killed_again() {
    if !["slurmctld", "slurmd", "munged", "sbatch"].iter().all(|name| found(name)) {
        return not_run("Slurm is not there; `cargo xtask setup --with slurm` installs it");
    }
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    call(dir, &[&SPACE[..], &["--out=whole.jsonl"]].concat());
    call(dir, &VERIFY);
    let cluster = Cluster::start();
    // Only this test uses the name.
    let out = dir.join("space").display().to_string();
    let merge = cluster.submit(dir, &job(dir, "slurm", 3, &SPACE, &out));
    let file = format!("{out}/space-1-of-3.jsonl");
    let lines = || fs::read(&file).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
    wait_for("the element has counted some chunks", || (lines() > 5).then_some(()));
    let victim = writer(&file).expect("an element that counts");
    let pid = rustix::process::Pid::from_raw(victim as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it can be killed");
    cluster.wait(&merge, Path::new(&out));
    let read = |path: &Path| fs::read(path).expect("a ledger");
    assert!(read(&dir.join("space/space.jsonl")) == read(&dir.join("whole.jsonl")));
    let log = fs::read_to_string(dir.join("space/slurm-1.log")).expect("a log");
    assert!(log.contains("Killed") && log.contains("that were read, with the same sums"), "{log}");
    let out = dir.join("verify").display().to_string();
    let merge = cluster.submit(dir, &job(dir, "slurm", 3, &VERIFY, &out));
    cluster.wait(&merge, Path::new(&out));
    assert!(timeless(&dir.join("verify/merged")) == timeless(&dir.join("tiebreak-out")));
}

/// A shard is tried again if its first attempt is killed, here by a wrapper of the program.
#[test]
fn gnu_parallel_runs_the_printed_job_and_tries_a_killed_shard_again() {
    let is_gnu = Command::new("parallel").arg("--version").output();
    if !is_gnu.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU parallel")) {
        return not_run("GNU parallel is not there; `cargo xtask setup --with slurm` installs it");
    }
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    call(dir, &VERIFY);
    let job = job(dir, "parallel", 3, &VERIFY, "shards");
    let front = dir.join("front");
    fs::create_dir(&front).expect("a directory");
    let real = env!("CARGO_BIN_EXE_tiebreak");
    let text = format!(
        "#!/bin/bash\nif [[ \"$*\" == *'--shard 2/3'* && ! -e killed ]]; then touch killed; kill -9 $$; fi\nexec -a \"$0\" {real} \"$@\"\n"
    );
    fs::write(front.join("tiebreak"), text).expect("a program");
    private(&front.join("tiebreak"), 0o755);
    let path = std::env::join_paths([front].into_iter().chain(std::env::split_paths(&path()))).expect("a path");
    let mut bash = Command::new("bash");
    bash.arg(job).env_remove("TIEBREAK_CALLED_AS").env("PATH", path).current_dir(dir);
    let output = bash.output().expect("bash starts");
    exits(&output, 0);
    assert!(dir.join("killed").exists(), "no shard was killed");
    let log = fs::read_to_string(dir.join("shards/joblog")).expect("a log");
    assert_eq!(log.lines().count(), 4, "{log}");
    assert!(timeless(&dir.join("shards/merged")) == timeless(&dir.join("tiebreak-out")));
}

/// Steps of the workflow, run in their order.
#[test]
fn the_jobs_of_the_github_workflow_run() {
    let dir = TempDir::new().expect("a temporary directory");
    let dir = dir.path();
    call(dir, &VERIFY);
    let text = fs::read_to_string(job(dir, "github", 2, &VERIFY, "shards")).expect("a workflow");
    // `cargo xtask test --only actions` checks this file.
    expect_test::expect_file!["../data/shards.yml"].assert_eq(&text);
    let workflow: serde_json::Value = serde_saphyr::from_str(&text).expect("YAML");
    let run = |job: &str| {
        let steps = workflow["jobs"][job]["steps"].as_array().expect("steps").iter();
        steps.filter_map(|step| step["run"].as_str()).map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let shell = |text: &str| {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-c", text]).env_remove("TIEBREAK_CALLED_AS").env("PATH", path()).current_dir(dir);
        exits(&bash.output().expect("bash starts"), 0)
    };
    let matrix = workflow["jobs"]["shard"]["strategy"]["matrix"]["shard"].as_array().expect("a matrix");
    for shard in matrix {
        shell(&run("shard").replace("${{ matrix.shard }}", &shard.to_string()));
    }
    shell(&run("merge"));
    assert_eq!(matrix.len(), 2);
    assert!(timeless(&dir.join("shards/merged")) == timeless(&dir.join("tiebreak-out")));
}
