//! Lane with idle sessions: threads lease sessions, and a failed session is not leased again.

use super::built;
use super::config::{Entry, HOST, Lanes};
use super::in_process::InProcess;
use super::process::{Worker, drawn};
use super::{Failure, NotRun, OpenError, Order, Session};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tiebreak_common::called::in_clone;
use tiebreak_common::identity::{self, HashCache};
use tiebreak_impls::sources::SOURCES;
use tiebreak_mlir::{Function, MODULE};
use tiebreak_oracle::names::unknown;
use tiebreak_reports::drawable::bounded;
use tiebreak_reports::ledger::Content;
use tiebreak_worker::protocol::{Hello, Job};

/// Default patience with a silent worker; see `patience.rs`.
const PATIENCE: Duration = Duration::from_secs(20);
/// Patience while a failure is narrowed down to a single input.
const IMPATIENCE: Duration = Duration::from_secs(1);

/// Number of digits of a hash in a message.
const SHOWN: usize = 12;
/// Time limit on timeouts of a lane, all batches together; afterwards the lane is sent no more jobs. Otherwise a worker that always hangs would be
/// waited for once for each kernel, mutant and attempt to shrink a case.
const MOST_WAITED: Duration = Duration::from_secs(120);
/// Bounds of `MOST_WAITED` in patiences: a failure must be narrowed down, and a lane with a short patience ends sooner.
const MOST_PATIENCES: [u32; 2] = [6, 24];

/// Longest printed command or reason of a lanes file, in characters.
const MOST_COMMAND: usize = 1 << 10;

enum Place {
    /// This process; the command, if any, starts a fresh process.
    InProcess(Option<Vec<String>>),
    Worker(Vec<String>),
}

/// Lane in which kernels run.
pub struct Lane {
    /// Name on the command line and in every report.
    pub name: String,
    /// Greeting of the worker: architecture, sources and kernels.
    pub hello: Hello,
    place: Place,
    patience: Duration,
    compiler: Option<String>,
    /// True if the worker was built together with the program.
    built: bool,
    /// Files that the worker had mapped when it greeted.
    mapped: Vec<PathBuf>,
    /// Compiler files of the modules.
    made_by: Vec<Content>,
    /// Functions of the modules, if known.
    functions: Option<BTreeSet<String>>,
    idle: Mutex<Vec<Box<dyn Session>>>,
    /// Milliseconds of timeouts, by all threads.
    waited: AtomicU64,
}

/// Leased session. On drop the session returns to the lane, unless the session failed.
pub struct Lease<'a> {
    lane: &'a Lane,
    session: Option<Box<dyn Session>>,
    /// Failure that ended the session.
    lost: Option<Failure>,
    /// Number of timeouts.
    hung: usize,
    patience: Duration,
    goes_back: bool,
}

impl Lane {
    /// Creates the lane of this process.
    pub fn host() -> Self {
        let hello = tiebreak_worker::serve::hello(super::in_process::FORM);
        Self {
            name: HOST.to_owned(),
            hello,
            place: Place::InProcess(None),
            patience: PATIENCE,
            compiler: None,
            built: true,
            mapped: identity::mapped(std::process::id()),
            made_by: Vec::new(),
            functions: None,
            idle: Mutex::default(),
            waited: AtomicU64::new(0),
        }
    }

    /// Opens lane `name`, or returns the reason for which the lane cannot run.
    pub fn open(name: &str, lanes: &Lanes) -> Result<Result<Self, NotRun>, OpenError> {
        if name == HOST {
            return Ok(Ok(Self { place: Place::InProcess(lanes.own_worker.clone()), ..Self::host() }));
        }
        match lanes.lanes.iter().find(|l| l.name == name) {
            Some(entry) => match Self::of_entry(entry) {
                Ok(lane) => lane.of_these_sources().map(Ok),
                Err(reason) => Ok(Err(reason)),
            },
            None if Lanes::KNOWN.contains(&name) => {
                Ok(Err(NotRun::Absent(format!("no worker was built for it; {} builds one", in_clone("verify")))))
            }
            None => Err(unknown("lane", name, lanes.names().chain(Lanes::KNOWN)).into()),
        }
    }

    /// Refuses a lane of the project whose worker was built from other sources of the kernels. A caller's own build needs another lane name.
    fn of_these_sources(self) -> Result<Self, OpenError> {
        let sources = self.hello.sources.as_ref().filter(|_| Lanes::is_ours(&self.name));
        match (sources, SOURCES) {
            (Some(theirs), Some(ours)) if *theirs != ours => {
                let (lane, theirs) = (self.name.clone(), theirs.chars().take(SHOWN).collect());
                Err(OpenError::OtherSources { via: self.via(), ours: ours.chars().take(SHOWN).collect(), theirs, lane })
            }
            _ => Ok(self),
        }
    }

    fn of_entry(entry: &Entry) -> Result<Self, NotRun> {
        let given = entry.not_run.as_ref().map(|reason| bounded(reason, MOST_COMMAND));
        let why = || given.unwrap_or_else(|| "the lanes file gives no command".to_owned());
        let reason = || NotRun::Absent(why());
        let command = entry.command.clone().ok_or_else(reason)?;
        let patience = entry.patience_seconds.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.get()));
        let started = Worker::start(&command, patience);
        let (worker, mut hello) = started.map_err(|failure| NotRun::broken(&command, failure, patience))?;
        for offer in &entry.offers {
            hello.kernels.retain(|other| (&other.op, &other.kernel) != (&offer.op, &offer.kernel));
            hello.kernels.push(drawn(offer.clone()));
        }
        if let Some(promised) = Lanes::promised_arch(&entry.name).filter(|promised| *promised != hello.arch) {
            return Err(NotRun::other_arch(&command, promised, hello.arch));
        }
        let mapped = identity::mapped(worker.process());
        let idle: Vec<Box<dyn Session>> = vec![Box::new(worker)];
        Ok(Self {
            name: entry.name.clone(),
            hello,
            place: Place::Worker(command),
            patience,
            compiler: entry.modules.as_ref().map(|modules| format!("mlir-opt {}", modules.version)),
            built: mapped.iter().any(|file| built::is_built(file)),
            mapped,
            made_by: entry.made_by.clone(),
            functions: entry.compiled.clone(),
            idle: Mutex::new(idle),
            waited: AtomicU64::new(0),
        })
    }

    /// Describes the command of the lane: programs by file name only, modules by their number, and a library without its promise.
    pub fn via(&self) -> String {
        let name = |argument: &String| {
            // `env NAME=PATH` sets a variable.
            let (variable, value) = argument.split_at(argument.find("=/").map_or(0, |at| at + 1));
            match Path::new(value) {
                path if path.is_absolute() => {
                    format!("{variable}{}", path.file_name().unwrap_or_default().to_string_lossy())
                }
                _ => argument.clone(),
            }
        };
        match &self.place {
            Place::InProcess(_) => "in process".to_owned(),
            Place::Worker(command) => {
                let modules = command.iter().filter(|argument| *argument == MODULE).count();
                // The promise of a library is JSON.
                let is_json = |argument: &&String| argument.starts_with('{');
                let program =
                    command.iter().take_while(|argument| *argument != MODULE).filter(|argument| !is_json(argument));
                let program = program.map(name).collect::<Vec<_>>().join(" ");
                let program = bounded(&program, MOST_COMMAND);
                match &self.compiler {
                    Some(compiler) => format!("{program}, {modules} modules of {compiler}"),
                    None => program,
                }
            }
        }
    }

    /// Returns the files of the kernels' code: worker, loaded libraries, and compiler of the modules. Files with hashes in `kept` are not read.
    pub fn files(&self, kept: Option<&HashCache>) -> Vec<Content> {
        let command = match &self.place {
            Place::InProcess(_) => std::env::current_exe().iter().map(|me| me.to_string_lossy().into_owned()).collect(),
            Place::Worker(command) => command.clone(),
        };
        let modules = command.iter().skip_while(|argument| *argument != MODULE).map(Path::new);
        let modules: Vec<PathBuf> = modules.filter_map(|module| module.canonicalize().ok()).collect();
        // Modules compiled here are identified by their compiler.
        let own =
            |path: &Path| !self.made_by.is_empty() && path.canonicalize().is_ok_and(|path| modules.contains(&path));
        let mut files = identity::of_worker(&command, &self.mapped, own, kept);
        files.extend(self.made_by.iter().cloned());
        files
    }

    /// True if kernels run in another process, so that the harness survives a crash or hang.
    pub fn is_isolated(&self) -> bool {
        matches!(self.place, Place::Worker(_))
    }

    /// True if the lane has compiled modules, and no other kernels.
    pub fn is_compiled(&self) -> bool {
        self.compiler.is_some()
    }

    /// True if no module of the lane has the function; false if the functions are unknown.
    pub fn lacks(&self, function: &Function) -> bool {
        self.functions.as_ref().is_some_and(|known| !known.contains(&function.symbol()))
    }

    /// True for a lane of the project, which must offer every kernel; a lane of the caller runs the offered kernels.
    pub fn must_offer(&self) -> bool {
        Lanes::is_ours(&self.name)
    }

    /// True for a lane of the project with the project's own program. Statements of other programs about their kernels prove nothing.
    pub fn runs_our_code(&self) -> bool {
        Lanes::is_ours(&self.name) && self.built
    }

    /// Returns the ISA path of `kernel`, or `None` if the lane does not offer the kernel.
    pub fn isa_path(&self, op: &str, kernel: &str) -> Option<&str> {
        let offer = self.hello.kernels.iter().find(|o| o.op == op && o.kernel == kernel);
        offer.map(|o| o.isa_path.as_str())
    }

    /// True if every kernel of the worker is the worker's own.
    pub fn is_of_own_names(&self) -> bool {
        self.hello.kernels.iter().all(|offer| offer.own.is_given())
    }

    /// Returns the names of the worker's own kernels for an operation.
    pub fn own_kernels<'a>(&'a self, op: &'a str) -> impl Iterator<Item = &'a str> {
        let own = self.hello.kernels.iter().filter(move |offer| offer.op == op && offer.own.is_given());
        own.map(|offer| offer.kernel.as_str())
    }

    /// Returns the reason for which the lane is sent no more jobs, if the timeouts exceed the limit.
    pub fn exhausted(&self) -> Option<String> {
        let waited = Duration::from_millis(self.waited.load(Ordering::Relaxed));
        let [least, most] = MOST_PATIENCES.map(|patiences| self.patience.saturating_mul(patiences));
        let most = MOST_WAITED.clamp(least, most);
        let seconds = waited.as_secs();
        (waited >= most)
            .then(|| format!("its worker was waited for in vain for {seconds} s in all, and was asked nothing more"))
    }

    /// Leases a session.
    pub fn lease(&self) -> Lease<'_> {
        let session = self.idle.lock().expect("lane").pop();
        Lease { lane: self, session, lost: None, hung: 0, patience: self.patience, goes_back: true }
    }

    /// Leases a session in a fresh process without earlier calls; `None` if no process can be started.
    pub fn fresh(&self) -> Option<Lease<'_>> {
        let (Place::Worker(command) | Place::InProcess(Some(command))) = &self.place else { return None };
        let (worker, _) = Worker::start(command, self.patience).ok()?;
        let session: Box<dyn Session> = Box::new(worker);
        Some(Lease {
            lane: self,
            session: Some(session),
            lost: None,
            hung: 0,
            patience: self.patience,
            goes_back: false,
        })
    }

    fn start(&self, patience: Duration) -> Result<Box<dyn Session>, Failure> {
        match &self.place {
            Place::InProcess(_) => Ok(Box::new(InProcess::default())),
            // A short patience applies to batches only, not to the start.
            Place::Worker(command) => Ok(Box::new(Worker::start(command, self.patience)?.0.with_patience(patience))),
        }
    }
}

impl Lanes {
    /// Lanes that the project knows, installed or not.
    pub const KNOWN: [&'static str; 5] =
        ["aarch64-qemu", "aarch64-native", "mlir-x86", "mlir-aarch64", "mlir-aarch64-bf16"];
}

impl Lease<'_> {
    /// Returns the number of timeouts.
    pub fn hung(&self) -> usize {
        self.hung
    }

    /// Returns the lane of the session.
    pub fn lane(&self) -> &Lane {
        self.lane
    }

    /// Leases a fresh session with a short patience, for narrowing down a failure.
    pub fn impatient(lane: &Lane) -> Lease<'_> {
        Lease { lane, session: None, lost: None, hung: 0, patience: IMPATIENCE.min(lane.patience), goes_back: false }
    }

    fn session(&mut self) -> Result<&mut Box<dyn Session>, Failure> {
        if let Some(why) = self.lane.exhausted() {
            return Err(Failure::refused(why));
        }
        if self.session.is_none() {
            self.session = Some(self.lane.start(self.patience)?);
        }
        Ok(self.session.as_mut().expect("just started"))
    }

    /// Ends the session after a failure, because its state is unknown; the next batch gets a fresh session. The session continues after a batch
    /// outside the domain, and after a refusal while no other batch is in flight.
    fn checked(&mut self, result: Result<(), Failure>, goes_on: fn(&Failure) -> bool) -> Result<(), Failure> {
        if let Err(failure) = &result
            && !goes_on(failure)
        {
            self.session = None;
            self.lost = Some(failure.clone());
            if let Failure::Hung(waited) = failure {
                self.hung += 1;
                let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                // Saturates at the longest time.
                let _ = self
                    .lane
                    .waited
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| Some(all.saturating_add(waited)));
            }
        }
        result
    }

    /// Submits a batch; see [`Session::submit`].
    pub fn submit(&mut self, order: &Order<'_>) -> Result<(), Failure> {
        let result = self.session().and_then(|s| s.submit(order));
        self.checked(result, Failure::is_outside)
    }

    /// Collects results; see [`Session::collect`]. After a failure, all batches in flight are lost for the same reason.
    pub fn collect(&mut self, out: &mut Vec<i32>) -> Result<(), Failure> {
        let result = match &mut self.session {
            Some(session) => session.collect(out),
            None => Err(self.lost.clone().expect("collect follows submit")),
        };
        self.checked(result, Failure::is_outside)
    }

    /// Runs one batch from start to end, with no other batch in flight.
    pub fn run(&mut self, order: &Order<'_>, out: &mut Vec<i32>) -> Result<(), Failure> {
        let result = self.session().and_then(|session| {
            session.submit(order)?;
            session.collect(out)
        });
        self.checked(result, Failure::goes_on)
    }

    /// True if the lane offers the job's kernel.
    pub fn offers(&self, job: &Job) -> bool {
        let (op, kernel) = job.names();
        self.lane.isa_path(op, kernel).is_some()
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let (Some(session), true) = (self.session.take(), self.goes_back) {
            self.lane.idle.lock().expect("lane").push(session);
        }
    }
}
