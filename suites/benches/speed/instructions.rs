//! Executed guest instructions of a worker under user-mode qemu, and the bytes that they load and store, equal in every run.
//!
//! qemu logs each block it translates (`in_asm`), each block it executes (`exec`, all of them with `nochain`), and system calls
//! (`strace`). The sum of the translated sizes over the executed blocks equals the single instructions of `-one-insn-per-tb`, in a
//! fraction of the time. The start is not counted, because it varies: glibc parses `/proc/self/maps`. Counting begins at the first
//! read of standard input and ends at the exit. It includes the work of the worker outside its kernel: reading, parsing, copying,
//! answering. The difference of two counts whose requests differ in one property is the cost of this property, except for copies,
//! whose cost depends on the place of a payload in the read buffer. Two versions of qemu may give different counts, because their
//! system calls return different results; compare counts of one version only.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::process::{Command, Stdio};
use tiebreak_worker::protocol::Answer;

/// Counts instructions executed while `command` (`qemu-aarch64 [ARGUMENTS] WORKER`) serves `requests`. Every answer must be
/// a result.
pub(crate) fn count(command: &[String], requests: &[u8]) -> Result<Counted, String> {
    let (qemu, arguments) = command.split_first().ok_or("the lane's command is empty")?;
    let failed = |e: io::Error| format!("`{}`: {e}", command.join(" "));
    // A pipe is read in a varying number of pieces, a file is not.
    let mut input = tempfile::tempfile().map_err(failed)?;
    input.write_all(requests).and_then(|()| input.rewind()).map_err(failed)?;
    let mut answers = tempfile::tempfile().map_err(failed)?;
    let mut child = Command::new(qemu)
        .args(["-d", "in_asm,exec,nochain,strace"])
        .args(arguments)
        .stdin(input)
        .stdout(answers.try_clone().map_err(failed)?)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let log = child.stderr.take().ok_or("no standard error")?;
    let read = Log::default().read(BufReader::new(log));
    if read.is_err() {
        // The child may have ended already; then there is nothing to kill.
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let (counted, last) = read.map_err(|e| format!("the log of `{}`: {e}", command.join(" ")))?;
    if !status.success() {
        return Err(format!("`{}` ended with {status}: `{last}`", command.join(" ")));
    }
    if counted.instructions == 0 {
        return Err(format!("`{}` logged no executed block, is it user-mode qemu? `{last}`", command.join(" ")));
    }
    answers.rewind().map_err(failed)?;
    answered(BufReader::new(answers))?;
    Ok(counted)
}

/// Executed instructions, with the bytes that they move.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Instructions.
    pub(crate) instructions: u64,
    /// Bytes that instructions load into general or SIMD registers.
    pub(crate) loaded: u64,
    /// Bytes that instructions store from general or SIMD registers.
    pub(crate) stored: u64,
}

/// Fails unless every answer is a result, because a rejected batch costs almost nothing.
fn answered(mut answers: impl BufRead) -> Result<(), String> {
    let mut line = Vec::new();
    while answers.read_until(b'\n', &mut line).map_err(|e| e.to_string())? > 0 {
        match serde_json::from_slice(&line).map_err(|e| format!("not an answer: {e}"))? {
            Answer::Done { bytes } => {
                let payload = io::copy(&mut answers.by_ref().take(bytes as u64), &mut io::sink());
                payload.map_err(|e| e.to_string())?;
            }
            Answer::Hello(_) => {}
            Answer::Failed { reason, .. } => return Err(format!("the worker refused a batch: {reason}")),
        }
        line.clear();
    }
    Ok(())
}

/// State of the parsed log.
#[derive(Default)]
struct Log {
    /// Content of each block, by its address in qemu.
    sizes: HashMap<u64, Counted>,
    /// First guest address and content of the block translated last, until it is executed.
    translated: Option<(Option<u64>, Counted)>,
    serving: bool,
    count: Counted,
}

impl Log {
    /// Reads a log; returns the count, and the last line.
    fn read(mut self, mut log: impl BufRead) -> Result<(Counted, String), String> {
        let (mut line, mut last) = (Vec::new(), Vec::new());
        while log.read_until(b'\n', &mut line).map_err(|e| e.to_string())? > 0 {
            self.line(&String::from_utf8_lossy(&line))?;
            std::mem::swap(&mut last, &mut line);
            line.clear();
        }
        Ok((self.count, String::from_utf8_lossy(&last).trim().to_owned()))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(block) = line.strip_prefix("Trace ") {
            return self.executed(block).unwrap_or_else(|| Err(format!("`{}` cannot be read", line.trim())));
        }
        if line.starts_with("IN:") {
            self.translated = Some((None, Counted::default()));
        } else if let (Some((first, size)), Some((address, rest))) = (&mut self.translated, line.split_once(':'))
            && let Some(address) = hexadecimal(address)
        {
            first.get_or_insert(address);
            size.instructions += 1;
            let word = rest.split_whitespace().next().and_then(|word| u32::from_str_radix(word, 16).ok());
            size.loaded += word.map_or(0, |word| moved(word, Direction::Load));
            size.stored += word.map_or(0, |word| moved(word, Direction::Store));
        } else if line.starts_with("Stopped execution") {
            return Err("a block was interrupted, so what was logged was not all executed".to_owned());
        } else if line.contains(" read(0,") {
            self.serving = true;
        }
        Ok(())
    }

    /// Counts the executed block `CPU: HOST [CONSTANT/GUEST/FLAGS/FLAGS] SYMBOL`.
    fn executed(&mut self, block: &str) -> Option<Result<(), String>> {
        let mut words = block.split_whitespace().skip(1);
        let host = hexadecimal(words.next()?)?;
        let guest = u64::from_str_radix(words.next()?.split('/').nth(1)?, 16).ok()?;
        // If the last translated block begins here, it is this block, and replaces an older one at the address.
        if let Some((_, size)) = self.translated.take_if(|(first, _)| *first == Some(guest)) {
            self.sizes.insert(host, size);
        }
        let Some(size) = self.sizes.get(&host) else {
            return Some(Err(format!("the block at {guest:#x} was executed but not translated")));
        };
        if self.serving {
            self.count.instructions += size.instructions;
            self.count.loaded += size.loaded;
            self.count.stored += size.stored;
        }
        Some(Ok(()))
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Direction of bytes between memory and registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

/// Returns the bytes that an A64 instruction moves in a direction, by its encoding: Arm Architecture Reference Manual (DDI 0487), section C4.1,
/// Loads and Stores. Loads of exclusive and atomic access are not counted; no kernel has them.
fn moved(word: u32, direction: Direction) -> u64 {
    let bits = |high: u32, low: u32| word >> low & ((1 << (high - low + 1)) - 1);
    // Bit 27 set and bit 25 clear: loads and stores.
    if bits(27, 27) != 1 || bits(25, 25) != 0 {
        return 0;
    }
    let (size, vector) = (bits(31, 30), bits(26, 26) == 1);
    let is_load = direction == Direction::Load;
    // Bit 22 of most forms is set for loads.
    let moves = (bits(22, 22) == 1) == is_load;
    match bits(29, 27) {
        // A pair.
        0b101 if moves => 2 * if vector { 4 << size } else { 4 << (size >> 1) },
        // Relative to the program counter.
        0b011 if is_load && bits(24, 24) == 0 => {
            if vector {
                4 << size
            } else {
                4 << (size & 1)
            }
        }
        // One register.
        0b111 if vector && moves => 1 << (size | bits(23, 23) << 2),
        0b111 if !vector && (bits(23, 22) != 0) == is_load && (size, bits(23, 22)) != (3, 2) => 1 << size,
        // Structures of SIMD registers: whole registers, or an element of each.
        0b001 if vector && moves && bits(24, 24) == 0 => {
            let registers = match bits(15, 12) {
                0b0111 => 1,
                0b1010 | 0b1000 => 2,
                0b0110 | 0b0100 => 3,
                _ => 4,
            };
            registers * (8 << bits(30, 30))
        }
        0b001 if vector && moves => match bits(15, 14) {
            0b00 => 1,
            0b01 => 2,
            0b10 => {
                if bits(10, 10) == 1 {
                    8
                } else {
                    4
                }
            }
            _ => 1 << bits(11, 10),
        },
        _ => 0,
    }
}
