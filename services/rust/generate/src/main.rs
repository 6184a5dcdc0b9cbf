//! Writes `src/grpc/generated.rs` from `protos/orch.proto`: run in `services/rust/generate/`, without arguments.
//!
//! The crate beside it compiles what is written here and needs neither protoc nor this program. Of the service only those
//! methods are generated that are offered, with their messages.

use std::error::Error;
use std::path::Path;

use prost_types::FileDescriptorProto;
use sha2::{Digest, Sha256};

const PROTOS: &str = "../../../protos";
const FILE: &str = "orch.proto";
const PACKAGE: &str = "orch.v1";
const METHODS: [&str; 6] = ["Timestamp", "Add", "Echo", "Image", "Transfer", "Identity"];
const WITHIN_ECHOES: [&str; 2] = ["Record", "Records"];
const WRITTEN: &str = "../src/grpc/generated.rs";

fn main() -> Result<(), Box<dyn Error>> {
    let mut compiled = protox::compile([FILE], [PROTOS])?;
    let ours = |file: &&mut FileDescriptorProto| file.package() == PACKAGE;
    let file = compiled.file.iter_mut().find(ours).ok_or("the file has another package")?;
    for service in &mut file.service {
        service.method.retain(|method| METHODS.contains(&method.name()));
    }
    file.message_type.retain(|message| {
        let name = message.name();
        let of_method = |ending| name.strip_suffix(ending).is_some_and(|method| METHODS.contains(&method));
        of_method("Request") || of_method("Reply") || WITHIN_ECHOES.contains(&name)
    });
    file.source_code_info = None; // comments of the file stand in the file
    let folder = std::env::temp_dir().join(format!("orch-rust-generate-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    // The client names its methods itself, as its codec gives the bytes of each reply, too.
    let builder = tonic_prost_build::configure().bytes(".").build_client(false).build_transport(false);
    builder.out_dir(&folder).compile_fds(compiled)?;
    let made = std::fs::read_to_string(folder.join(format!("{PACKAGE}.rs")))?;
    std::fs::remove_dir_all(&folder)?;
    let digest = Sha256::digest(std::fs::read(Path::new(PROTOS).join(FILE))?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let head = format!("// Written by services/rust/generate from protos/{FILE}, whose SHA-256 is {digest}.\n");
    std::fs::write(WRITTEN, head + &made)?;
    Ok(())
}
