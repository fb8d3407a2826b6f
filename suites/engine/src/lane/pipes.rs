//! Pipes of a worker: without blocking, and read during writes, so that a worker may answer while it reads.

use super::group::Group;
use super::patience::Silence;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};

/// Size of the pipes, so that a worker can go on while the harness does other work.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Size of a read if the end of the data is unknown.
const CHUNK: usize = 1 << 16;

/// Reason for which no more bytes move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The other end is closed.
    Closed,
    /// The started process has ended, and another process holds the other end.
    Left,
    /// The silence was too long.
    Silent,
}

/// Both pipes, and bytes read ahead.
pub(super) struct Pipes {
    input: ChildStdin,
    output: ChildStdout,
    inbox: Vec<u8>,
    /// Buffer of a read.
    chunk: Box<[u8]>,
}

impl Pipes {
    pub(super) fn new(input: ChildStdin, output: ChildStdout) -> io::Result<Self> {
        for pipe in [input.as_fd(), output.as_fd()] {
            // Smaller pipes work too, only slower.
            #[cfg(target_os = "linux")]
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { input, output, inbox: Vec::new(), chunk: vec![0; CHUNK].into() })
    }

    /// Writes all `bytes`; meanwhile reads answers while less than `room` bytes wait to be taken.
    pub(super) fn write(
        &mut self,
        mut bytes: &[u8],
        room: usize,
        group: &Group,
        wait: &mut Silence,
    ) -> Result<(), Stop> {
        while !bytes.is_empty() {
            match moved(rustix::io::write(&self.input, bytes))? {
                Some(n) => {
                    bytes = &bytes[n..];
                    wait.moved(n);
                }
                None => self.pass(room, group, wait)?,
            }
        }
        Ok(())
    }

    /// Waits until writing is possible, and reads what is available.
    fn pass(&mut self, room: usize, group: &Group, wait: &mut Silence) -> Result<(), Stop> {
        let mut ready = [PollFd::new(&self.input, PollFlags::OUT), PollFd::new(&self.output, PollFlags::IN)];
        let reads = self.inbox.len() < room;
        let readable = until(&mut ready[..1 + usize::from(reads)], group, wait)? && !ready[1].revents().is_empty();
        if reads && readable {
            self.take_in(wait)?;
        }
        Ok(())
    }

    /// Reads up to a chunk into the inbox.
    fn take_in(&mut self, wait: &mut Silence) -> Result<(), Stop> {
        if let Some(n) = moved(rustix::io::read(&self.output, &mut *self.chunk))? {
            if n == 0 {
                return Err(Stop::Closed);
            }
            self.inbox.extend_from_slice(&self.chunk[..n]);
            wait.moved(n);
        }
        Ok(())
    }

    /// Returns a line with the end, or the first `most` bytes of a longer line.
    pub(super) fn line(&mut self, most: usize, group: &Group, wait: &mut Silence) -> Result<Vec<u8>, Stop> {
        let mut searched = 0;
        loop {
            let end = self.inbox[searched..].iter().position(|byte| *byte == b'\n').map(|at| searched + at + 1);
            searched = self.inbox.len();
            if let Some(end) = end.or((searched >= most).then_some(most)) {
                return Ok(self.inbox.drain(..end).collect());
            }
            self.take_in(wait)?;
            if self.inbox.len() == searched {
                until(&mut [PollFd::new(&self.output, PollFlags::IN)], group, wait)?;
            }
        }
    }

    /// Fills `out` from the inbox and the pipe.
    pub(super) fn read(&mut self, out: &mut [u8], group: &Group, wait: &mut Silence) -> Result<(), Stop> {
        let mut filled = out.len().min(self.inbox.len());
        out[..filled].copy_from_slice(&self.inbox[..filled]);
        self.inbox.drain(..filled);
        while filled < out.len() {
            match moved(rustix::io::read(&self.output, &mut out[filled..]))? {
                Some(0) => return Err(Stop::Closed),
                Some(n) => {
                    filled += n;
                    wait.moved(n);
                }
                None => {
                    until(&mut [PollFd::new(&self.output, PollFlags::IN)], group, wait)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the number of bytes moved; `None` if no byte can move without waiting.
fn moved(result: Result<usize, Errno>) -> Result<Option<usize>, Stop> {
    match result {
        Ok(n) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(_) => Err(Stop::Closed),
    }
}

/// Waits until a pipe is ready. False after a tick of silence; fails if the silence was too long.
fn until(ready: &mut [PollFd<'_>], group: &Group, wait: &mut Silence) -> Result<bool, Stop> {
    let tick = Timespec::try_from(wait.tick()).ok();
    match poll(ready, tick.as_ref()) {
        Ok(0) if wait.is_left(group) => Err(Stop::Left),
        Ok(0) if wait.is_over(group) => Err(Stop::Silent),
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(_) => Err(Stop::Closed),
    }
}
