//! How load is made and recorded, whatever the protocol.

pub mod client;
mod deadline;
mod filler;
mod loops;
mod meter;
mod pacer;
mod phase;
mod record;
mod recorder;
mod room;
mod slot;
mod work;

pub use filler::{Filler, ROUND, Rows};
pub use loops::Loops;
pub use meter::Meter;
pub use phase::{Extent, MEASURED, Phase, WARM_UP};
pub use record::{Kind, Record};
pub use recorder::{Books, GaveUp, Recorder, Tally, errors_told};
pub use room::{expected_rows, rows_of_turn};
pub use work::{Makers, Schedule, Work};
