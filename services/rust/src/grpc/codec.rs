//! Protocol Buffers by prost, as tonic has them coded; a reply comes with the bytes that it was decoded from.

use std::marker::PhantomData;

use bytes::{Buf, Bytes};
use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// What a reply is read into at first: one that is kept until it is verified holds it, and tonic's own are 8 KiB each.
const BUFFER: usize = 1 << 10;
const YIELD: usize = 32 << 10; // tonic's own, and of no matter to one message

/// A message that was decoded, and its bytes.
#[derive(Debug)]
pub struct Came<M> {
    pub message: M,
    pub body: Bytes,
}

/// Encodes messages of one type, and decodes those of another.
#[derive(Debug)]
pub struct Coding<Sent, Received>(PhantomData<(Sent, Received)>);

impl<Sent, Received> Coding<Sent, Received> {
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<Sent, Received> Codec for Coding<Sent, Received>
where
    Sent: Message + 'static,
    Received: Message + Default + 'static,
{
    type Encode = Sent;
    type Decode = Came<Received>;
    type Encoder = Encoding<Sent>;
    type Decoder = Decoding<Received>;

    fn encoder(&mut self) -> Encoding<Sent> {
        Encoding(PhantomData)
    }

    fn decoder(&mut self) -> Decoding<Received> {
        Decoding(PhantomData)
    }
}

#[derive(Debug)]
pub struct Encoding<M>(PhantomData<M>);

impl<M: Message> Encoder for Encoding<M> {
    type Item = M;
    type Error = Status;

    fn encode(&mut self, item: M, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(into).map_err(|error| Status::internal(error.to_string()))
    }
}

#[derive(Debug)]
pub struct Decoding<M>(PhantomData<M>);

/// What stands before the reason for which a reply is no message of its type.
pub const UNDECODABLE: &str = "no such message: ";

impl<M: Message + Default> Decoder for Decoding<M> {
    type Item = Came<M>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Came<M>>, Status> {
        let body = from.copy_to_bytes(from.remaining());
        let message = M::decode(body.clone()).map_err(|error| Status::internal(format!("{UNDECODABLE}{error}")))?;
        Ok(Some(Came { message, body }))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, YIELD)
    }
}
