//! The program `request`.

use serde_json::json;

use super::stdin::words;
use super::trial::make_trial;
use super::words::Refused;
use crate::contract::{complain, first_line, on_one_line, print_line, read_trial};
use crate::probes::system;

/// It ends with the process.
pub fn run() -> ! {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic); // the place, on stderr
        fail(&Refused::new("fault", panic.to_string()));
    }));
    let made = first_line()
        .and_then(|line| read_trial(&line))
        .map_err(|why| Refused::trial(format!("not a trial on stdin: {why}")))
        .and_then(|trial| make_trial(&trial, words()));
    match made {
        Ok(done) => {
            print_line(&done);
            system::leave(0);
        }
        Err(refused) => fail(&refused),
    }
}

fn fail(refused: &Refused) -> ! {
    let message = on_one_line(&refused.message);
    print_line(&json!({"type": "failed", "kind": refused.kind, "message": message}));
    complain(&format!("request: {message}"));
    system::leave(1);
}
