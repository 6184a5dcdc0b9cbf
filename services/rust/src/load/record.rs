//! The raw timing record of `protos/timings.md`: rows stored straight into the kernel's page cache while measuring.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicI64, Ordering};

use memmap2::{Advice, MmapOptions, MmapRaw};

use crate::probes::system::reserve;
use crate::statuses::Status;

const COLUMNS: [&str; 14] = [
    "sequence",
    "phase",
    "connection",
    "intended_ns",
    "sent_ns",
    "received_ns",
    "service_ns",
    "bytes_sent",
    "bytes_received",
    "status",
    "kind",
    "parent",
    "sender_ns",
    "sender_clock",
];
const NUMBER: usize = 8;
const NAME: usize = 32;
const ROW: usize = COLUMNS.len() * NUMBER;
const NUMBERS_OF_HEADER: usize = 64;
const HEADER: usize = NUMBERS_OF_HEADER + NAME * COLUMNS.len();
const STATUS: usize = 9;

const MOST_AT_FIRST: u64 = 1 << 22; // 470 MB; a longer trial grows on its way
const GROWS_BY: u64 = 1 << 17;

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Kind {
    Request = 0,
    Task = 1,
    Part = 2,
    Mixed = 6,
}

/// One row; units and meanings as in `protos/timings.md`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub sequence: i64,
    pub phase: i64,
    pub connection: i64,
    pub intended_ns: i64,
    pub sent_ns: i64,
    pub received_ns: i64,
    pub bytes_sent: i64,
    pub bytes_received: i64,
    pub status: Status,
    pub kind: Kind,
    pub parent: i64,
}

/// A pre-sized, memory-mapped file: a header, and rows behind it.
///
/// Space is reserved on disk beforehand: a full disk is an error here, and no fatal signal in the middle of a trial.
#[derive(Debug)]
pub struct Record {
    file: File,
    mapping: MmapRaw,
    room: u64,
    rows: u64,
}

impl Record {
    pub fn create(path: &str, expected_rows: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.custom_flags(libc::O_NONBLOCK).open(path)?; // nobody may read a pipe
        if !file.metadata()?.is_file() {
            return Err(io::Error::other(format!("no regular file: {path}"))); // and it is left where it is
        }
        let room = expected_rows.clamp(1, MOST_AT_FIRST);
        let mapping = match extend(&file, 0, room) {
            Ok(mapping) => mapping,
            Err(error) => {
                std::fs::remove_file(path)?;
                return Err(error);
            }
        };
        let header = header();
        // SAFETY: the mapping has room for the header and at least one row, and nobody else writes to it.
        unsafe { std::ptr::copy_nonoverlapping(header.as_ptr(), mapping.as_mut_ptr(), HEADER) };
        Ok(Self { file, mapping, room, rows: 0 })
    }

    /// Have room for so many rows more, so that none of them makes the file grow.
    pub fn reserve(&mut self, rows: u64) -> io::Result<()> {
        if self.rows + rows > self.room {
            let room = self.room + GROWS_BY.max(rows);
            self.mapping = extend(&self.file, self.room, room)?;
            self.room = room;
        }
        Ok(())
    }

    /// Store a row, and give its place. Its sequence is stored last: a row without one was never completed.
    pub fn append(&mut self, row: &Row) -> io::Result<u64> {
        self.reserve(1)?;
        let place = self.rows;
        let columns = [
            row.phase,
            row.connection,
            row.intended_ns,
            row.sent_ns,
            row.received_ns,
            -1,
            row.bytes_sent,
            row.bytes_received,
            row.status as i64,
            row.kind as i64,
            row.parent,
        ]
        .map(i64::to_le);
        let at = self.at(place);
        // SAFETY: `at` leads to a row within the mapping, aligned to 8 bytes as the mapping, the header and rows are.
        // What is behind these columns is 0 in a file that was never written to.
        unsafe {
            std::ptr::copy_nonoverlapping(columns.as_ptr(), at.add(1), columns.len());
            AtomicI64::from_ptr(at).store(row.sequence.to_le(), Ordering::Release);
        }
        self.rows += 1;
        Ok(place)
    }

    /// What came of a row that was stored as not verified yet.
    pub fn set_status(&mut self, place: u64, status: Status) {
        assert!(place < self.rows, "there is no row {place}");
        // SAFETY: as in `append`, of a row that is stored.
        unsafe { self.at(place).add(STATUS).write((status as i64).to_le()) };
    }

    fn at(&self, place: u64) -> *mut i64 {
        // SAFETY: there is room for all rows up to `room`, and `place` is below it.
        unsafe { self.mapping.as_mut_ptr().add(HEADER + place as usize * ROW).cast() }
    }

    /// How many rows are stored.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Cut the file to the rows that were stored.
    pub fn close(self) -> io::Result<()> {
        let Self { file, mapping, rows, .. } = self;
        drop(mapping);
        file.set_len(size_with(rows))
    }
}

fn size_with(rows: u64) -> u64 {
    (HEADER as u64) + rows * (ROW as u64)
}

/// Make room for `to` rows in a file that has it for `from`, and map all of it.
fn extend(file: &File, from: u64, to: u64) -> io::Result<MmapRaw> {
    let before = if from == 0 { 0 } else { size_with(from) };
    if let Err(error) = reserve(file, before, size_with(to)) {
        file.set_len(before)?; // a part of a row more is no record
        return Err(error);
    }
    let size = usize::try_from(size_with(to)).map_err(io::Error::other)?;
    let mapping = MmapOptions::new().len(size).map_raw(file)?;
    // So that no store is a page fault; older kernels fault pages in one by one.
    let page = 4096;
    let begin = usize::try_from(before).map_err(io::Error::other)? / page * page;
    let _ = mapping.advise_range(Advice::PopulateWrite, begin, size - begin);
    Ok(mapping)
}

fn header() -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..NUMBER].copy_from_slice(b"orchtime");
    for (place, number) in [2, HEADER, ROW, COLUMNS.len()].into_iter().enumerate() {
        header[NUMBER * (place + 1)..NUMBER * (place + 2)].copy_from_slice(&(number as i64).to_le_bytes());
    }
    for (place, name) in COLUMNS.iter().enumerate() {
        let at = NUMBERS_OF_HEADER + NAME * place;
        header[at..at + name.len()].copy_from_slice(name.as_bytes());
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sequence: i64) -> Row {
        Row {
            sequence,
            phase: 1,
            connection: 3,
            intended_ns: 10,
            sent_ns: 11,
            received_ns: 12,
            bytes_sent: 13,
            bytes_received: 14,
            status: Status::Unverified,
            kind: Kind::Mixed,
            parent: 2,
        }
    }

    fn numbers(bytes: &[u8]) -> Vec<i64> {
        bytes.chunks_exact(8).map(|eight| i64::from_le_bytes(eight.try_into().unwrap())).collect()
    }

    fn path(name: &str) -> String {
        let folder = std::env::temp_dir().join(format!("orch-rust-{}-{name}", std::process::id()));
        folder.to_str().unwrap().to_owned()
    }

    #[test]
    fn the_file_is_that_of_the_page() {
        let path = path("page");
        let mut record = Record::create(&path, 10).unwrap();
        record.append(&row(7)).unwrap();
        let second = record.append(&row(8)).unwrap();
        record.set_status(second, Status::WrongReply);
        let before = std::fs::read(&path).unwrap();
        assert_eq!(before.len(), 512 + 10 * 112); // as whoever is killed leaves it
        record.close().unwrap();
        let content = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&content[..8], b"orchtime");
        assert_eq!(numbers(&content[8..64]), [2, 512, 112, 14, 0, 0, 0]);
        for (place, name) in COLUMNS.iter().enumerate() {
            let told = &content[64 + 32 * place..64 + 32 * (place + 1)];
            assert_eq!(std::str::from_utf8(told).unwrap().trim_end_matches('\0'), *name);
        }
        assert_eq!(numbers(&content[512..624]), [7, 1, 3, 10, 11, 12, -1, 13, 14, 9, 6, 2, 0, 0]);
        assert_eq!(numbers(&content[624..]), [8, 1, 3, 10, 11, 12, -1, 13, 14, 1, 6, 2, 0, 0]);
        assert_eq!(before[..content.len()], content);
        assert!(before[content.len()..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn it_grows() {
        let path = path("grows");
        let mut record = Record::create(&path, 1).unwrap();
        for sequence in 1..=3 {
            record.append(&row(sequence)).unwrap();
        }
        record.close().unwrap();
        let content = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let sequences: Vec<i64> = content[512..].chunks_exact(112).map(|row| numbers(row)[0]).collect();
        assert_eq!(sequences, [1, 2, 3]);
    }

    #[test]
    fn a_folder_that_there_is_not_is_an_error() {
        assert!(Record::create(&path("no such folder/record"), 1).is_err());
    }
}
