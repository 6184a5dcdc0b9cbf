//! TLS 1.3 and nothing older, by rustls (`protos/process.md`, *TLS*).

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, HandshakeKind, RootCertStore, ServerConfig};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream as ClientStream;
use tokio_rustls::server::TlsStream as ServerStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::contract::{Authority, Tls};
use crate::statuses::{Failure, Status};

const SESSIONS: usize = 256;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// What the handshakes of a trial came to.
#[derive(Debug, Default)]
struct Negotiated {
    versions: BTreeSet<String>,
    ciphers: BTreeSet<String>,
    handshakes: u64,
    resumed: u64,
}

/// Whom a requester trusts, and for whom a certificate must be.
pub struct ClientTls {
    connector: TlsConnector,
    name: ServerName<'static>,
    protocol: Option<&'static [u8]>,
    negotiated: Mutex<Negotiated>,
}

impl std::fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientTls").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ClientTls {
    /// Why the file cannot be used otherwise. `protocol` is asked for by ALPN; `resumes`: each connection an earlier session.
    pub fn new(
        authority: &Authority,
        host: &str,
        protocol: Option<&'static [u8]>,
        resumes: bool,
    ) -> Result<Self, String> {
        let content = std::fs::read(&authority.path).map_err(|error| format!("tls: {}: {error}", authority.path))?;
        if hex(&Sha256::digest(&content)) != authority.sha256 {
            return Err(format!("tls: {} is not the file whose SHA-256 is {}", authority.path, authority.sha256));
        }
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&content) {
            let certificate = certificate.map_err(|error| format!("tls: {}: {error}", authority.path))?;
            roots.add(certificate).map_err(|error| format!("tls: {}: {error}", authority.path))?;
        }
        if roots.is_empty() {
            return Err(format!("tls: {} holds no certificate", authority.path));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|error| format!("tls: {host}: {error}"))?;
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| format!("tls: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = if resumes { Resumption::in_memory_sessions(SESSIONS) } else { Resumption::disabled() };
        config.alpn_protocols = protocol.iter().map(|name| name.to_vec()).collect();
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self { connector, name, protocol, negotiated: Mutex::default() })
    }

    /// Make a connection one of TLS.
    pub async fn secure(&self, socket: TcpStream) -> Result<ClientStream<TcpStream>, Failure> {
        let refused = |error: io::Error| Failure::new(Status::Refused, format!("tls: {error}"));
        let secured = self.connector.connect(self.name.clone(), socket).await.map_err(refused)?;
        let session = secured.get_ref().1;
        // A server that negotiates nothing speaks HTTP/1.1 (RFC 9112).
        let is_silent = session.alpn_protocol().is_none() && self.protocol == Some(b"http/1.1");
        if session.alpn_protocol() != self.protocol && !is_silent {
            return Err(Failure::new(Status::Refused, "tls: the other end does not speak what was asked for by ALPN"));
        }
        let mut negotiated = self.negotiated.lock().unwrap_or_else(PoisonError::into_inner);
        negotiated.handshakes += 1;
        negotiated.resumed += u64::from(session.handshake_kind() == Some(HandshakeKind::Resumed));
        if let Some(suite) = session.negotiated_cipher_suite() {
            // OpenSSL's names: TLS_AES_256_GCM_SHA384 for TLS13_AES_256_GCM_SHA384.
            negotiated.ciphers.insert(format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1));
        }
        if session.protocol_version() == Some(rustls::ProtocolVersion::TLSv1_3) {
            negotiated.versions.insert("TLSv1.3".to_owned());
        }
        drop(negotiated);
        Ok(secured)
    }

    /// Whether any handshake resumed the session of an earlier connection.
    pub fn has_resumed(&self) -> bool {
        self.negotiated.lock().unwrap_or_else(PoisonError::into_inner).resumed > 0
    }

    /// `tls` of the *done* line.
    pub fn told(&self) -> Value {
        let negotiated = self.negotiated.lock().unwrap_or_else(PoisonError::into_inner);
        let several = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(",");
        json!({
            "version": several(&negotiated.versions),
            "cipher": several(&negotiated.ciphers),
            "handshakes": negotiated.handshakes,
            "resumed": negotiated.resumed,
        })
    }
}

/// A responder's certificate, in use.
#[derive(Clone)]
pub struct ServerTls {
    acceptor: TlsAcceptor,
}

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerTls").finish_non_exhaustive()
    }
}

impl ServerTls {
    /// Why the files cannot be used otherwise; `protocol` and `resumes` as of `ClientTls::new`.
    pub fn new(tls: &Tls, protocol: Option<&'static [u8]>, resumes: bool) -> Result<Self, String> {
        let unusable = |path: &str, error: &dyn std::fmt::Display| format!("tls: {path}: {error}");
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&tls.certificate)
            .and_then(Iterator::collect)
            .map_err(|error| unusable(&tls.certificate, &error))?;
        let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| unusable(&tls.key, &error))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| format!("tls: {error}"))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| unusable(&tls.certificate, &error))?;
        if resumes {
            config.ticketer = ring::Ticketer::new().map_err(|error| format!("tls: {error}"))?;
        }
        config.alpn_protocols = protocol.iter().map(|name| name.to_vec()).collect();
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Make an accepted connection one of TLS.
    pub async fn secure(&self, socket: TcpStream) -> io::Result<ServerStream<TcpStream>> {
        self.acceptor.accept(socket).await
    }
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
