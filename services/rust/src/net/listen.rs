//! Accepts connections.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsStream;

use super::{ServerTls, SocketOptions, Stream};
use crate::probes::tcp;

const BACKLOG: u32 = 1024;
const AFTER_NO_DESCRIPTOR: Duration = Duration::from_millis(50);

/// A socket that listens, and what its connections are protected with.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    tls: Option<ServerTls>,
}

/// A connection that was accepted, its handshake of TLS still to come.
#[derive(Debug)]
pub struct Accepted {
    socket: TcpStream,
    pub peer: SocketAddr,
    tls: Option<ServerTls>,
}

impl Listener {
    /// Port 0 is any free one.
    pub fn bind(host: &str, port: u16, tls: Option<ServerTls>, options: &SocketOptions) -> io::Result<Self> {
        let address = (host, port)
            .to_socket_addrs()?
            .next()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "its name stands for no address"))?;
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        options.handed_down().set(socket.as_fd()).map_err(io::Error::other)?;
        socket.bind(address)?;
        Ok(Self { listener: socket.listen(BACKLOG)?, tls })
    }

    pub fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// What controls the congestion of the connections that are accepted.
    pub fn congestion(&self) -> Option<String> {
        tcp::congestion(self.listener.as_fd())
    }

    /// The next connection. One that was gone before it was accepted is passed over.
    pub async fn accept(&self) -> Accepted {
        loop {
            match self.listener.accept().await {
                Ok((socket, peer)) => {
                    if socket.set_nodelay(true).is_ok() {
                        return Accepted { socket, peer, tls: self.tls.clone() };
                    }
                }
                // No descriptor is left, say: others may be closed meanwhile.
                Err(_) => tokio::time::sleep(AFTER_NO_DESCRIPTOR).await,
            }
        }
    }
}

impl Accepted {
    /// The connection, once its handshake of TLS is over where it has one.
    pub async fn secured(self) -> io::Result<Stream> {
        match self.tls {
            None => Ok(Stream::Plain(self.socket)),
            Some(tls) => Ok(Stream::Tls(Box::new(TlsStream::Server(tls.secure(self.socket).await?)))),
        }
    }
}
