//! Stands between a process and a server, and can keep back what the process says.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Forwards connections for as long as the test runs.
#[derive(Debug)]
pub struct Proxy {
    pub port: u16,
    keeps_back: watch::Sender<bool>,
}

impl Proxy {
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (keeps_back, kept) = watch::channel(false);
        actix_web::rt::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(upstream) = TcpStream::connect(server).await else {
                    continue;
                };
                let (from_client, mut to_client) = client.into_split();
                let (mut from_server, to_server) = upstream.into_split();
                actix_web::rt::spawn(forward(from_client, to_server, kept.clone()));
                actix_web::rt::spawn(async move {
                    let _ = copy(&mut from_server, &mut to_client).await;
                });
            }
        });
        Self { port, keeps_back }
    }

    /// From here on the server hears nothing more.
    pub fn keep_back(&self) {
        self.keeps_back.send_replace(true);
    }
}

/// A process that ends is seen to end, whatever of its words was kept back.
async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, kept: watch::Receiver<bool>) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if *kept.borrow() {
            continue;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
}
