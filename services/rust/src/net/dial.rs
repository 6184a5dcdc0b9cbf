//! Opens connections to a target.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use super::{ClientTls, Openings, Stream};
use crate::contract::Target;
use crate::probes::system::monotonic_ns;
use crate::statuses::{Failure, Status};

/// Where to connect to, and how.
#[derive(Debug)]
pub struct Dialer {
    addresses: Vec<SocketAddr>,
    tls: Option<Arc<ClientTls>>,
    openings: Option<Arc<Openings>>,
}

impl Dialer {
    /// A failure with status refused where the host's name stands for no address.
    pub fn new(target: &Target, tls: Option<Arc<ClientTls>>, openings: Option<Arc<Openings>>) -> Result<Self, Failure> {
        let unknown = |error: std::io::Error| Failure::new(Status::Refused, format!("{}: {error}", target.host));
        let addresses = (target.host.as_str(), target.port).to_socket_addrs().map_err(unknown)?.collect();
        Ok(Self { addresses, tls, openings })
    }

    /// A connection, ready to carry requests.
    pub async fn dial(&self) -> Result<Stream, Failure> {
        let begun_ns = monotonic_ns();
        let socket = self.connect().await?;
        let connected_ns = monotonic_ns();
        let Some(tls) = &self.tls else {
            self.note(connected_ns - begun_ns, None);
            return Ok(Stream::Plain(socket));
        };
        let secured = tls.secure(socket).await?;
        self.note(connected_ns - begun_ns, Some(monotonic_ns() - connected_ns));
        Ok(Stream::Tls(Box::new(TlsStream::Client(secured))))
    }

    fn note(&self, connect_ns: i64, tls_ns: Option<i64>) {
        if let Some(openings) = &self.openings {
            openings.note(connect_ns, tls_ns);
        }
    }

    async fn connect(&self) -> Result<TcpStream, Failure> {
        let mut failure = Failure::new(Status::Refused, "its name stands for no address");
        for address in &self.addresses {
            match TcpStream::connect(address).await.and_then(|socket| socket.set_nodelay(true).map(|()| socket)) {
                Ok(socket) => return Ok(socket),
                Err(error) => {
                    failure = Failure::no_connection(&error);
                    failure.words = format!("{address}: {error}");
                }
            }
        }
        Err(failure)
    }
}
