//! Stands between the service and a MariaDB, understands what they say, and makes the network or the server fail at a
//! given command.

mod packets;
mod rules;

use std::sync::Arc;

use packets::{Packet, Packets, send};
use rules::{Dialogue, Rules, Spoken};
pub use rules::{Fault, Moment, Rule};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// Forwards connections for as long as the test runs.
#[derive(Debug)]
pub struct SqlProxy {
    url: String,
    rules: Arc<Rules>,
}

impl SqlProxy {
    /// In front of the server that `url` names: `mysql://user@host:port/database`.
    pub async fn before(url: &str) -> Self {
        let (user, rest) = url.split_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let rules = Arc::new(Rules::default());
        actix_web::rt::spawn(accept(listener, server.to_owned(), Arc::clone(&rules)));
        Self {
            url: format!("{user}@127.0.0.1:{port}/{database}?ssl-mode=disabled"),
            rules,
        }
    }

    /// The same database, reached through here.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets it happen from now on; it tells how often it did.
    pub fn arm(&self, rule: Rule) -> Arc<Rule> {
        let rule = Arc::new(rule);
        self.rules.add(Arc::clone(&rule));
        rule
    }

    /// Ends all faults. What they did to a connection stays done.
    pub fn lift(&self) {
        self.rules.clear();
    }
}

async fn accept(listener: TcpListener, server: String, rules: Arc<Rules>) {
    while let Ok((client, _)) = listener.accept().await {
        let (server, rules) = (server.clone(), Arc::clone(&rules));
        actix_web::rt::spawn(async move {
            if let Ok(upstream) = TcpStream::connect(server).await {
                Talk::new(client, upstream, rules).run().await;
            }
        });
    }
}

/// One connection of each side. Dropped, both end.
struct Talk {
    from_client: Packets,
    to_client: OwnedWriteHalf,
    from_server: Packets,
    to_server: OwnedWriteHalf,
    dialogue: Dialogue,
    rules: Arc<Rules>,
}

impl Talk {
    fn new(client: TcpStream, server: TcpStream, rules: Arc<Rules>) -> Self {
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        Self {
            from_client: Packets::new(from_client),
            to_client,
            from_server: Packets::new(from_server),
            to_server,
            dialogue: Dialogue::default(),
            rules,
        }
    }

    async fn run(mut self) {
        match self.rules.fault(&Spoken::CONNECT) {
            None => {}
            Some(Fault::Swallow | Fault::SwallowAfter) => {
                return self.from_client.drain().await;
            }
            Some(_) => return,
        }
        loop {
            let goes_on = tokio::select! {
                packet = self.from_client.next() => match packet {
                    Some(packet) => self.said(packet).await,
                    None => false,
                },
                packet = self.from_server.next() => match packet {
                    Some(packet) => self.answered(packet).await,
                    None => false,
                },
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Whether the connection goes on.
    async fn said(&mut self, packet: Packet) -> bool {
        let command = packet.command();
        let spoken = command.map(|command| self.dialogue.hear(command));
        let fault = spoken.and_then(|spoken| self.rules.fault(&spoken));
        match fault {
            None => send(&mut self.to_server, &packet).await,
            Some(Fault::Cut) => false,
            Some(Fault::CutAfter) => {
                self.done(&packet).await;
                false
            }
            Some(Fault::Swallow) => {
                self.from_client.drain().await;
                false
            }
            Some(Fault::SwallowAfter) => {
                self.done(&packet).await;
                self.from_client.drain().await;
                false
            }
            Some(Fault::Vanish) => std::future::pending().await,
            Some(Fault::Delay(time)) => {
                sleep(time).await;
                send(&mut self.to_server, &packet).await
            }
            Some(Fault::Refuse(number)) => send(&mut self.to_client, &Packet::error(number)).await,
            Some(Fault::Answer(number)) => {
                let is_rolled_back = self.done(&Packet::query("ROLLBACK")).await;
                is_rolled_back && send(&mut self.to_client, &Packet::error(number)).await
            }
        }
    }

    async fn answered(&mut self, packet: Packet) -> bool {
        self.dialogue.answered(|| packet.prepared());
        send(&mut self.to_client, &packet).await
    }

    /// Lets the server do it; true once it has answered, which nobody else hears.
    async fn done(&mut self, packet: &Packet) -> bool {
        send(&mut self.to_server, packet).await && self.from_server.next().await.is_some()
    }
}
