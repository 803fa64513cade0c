//! A network that is cut in two brings no end of the connection either: the server keeps the transaction, and its locks
//! on the key, the order and the stock, for as long as it likes to wait for a client who is gone.

use futures_util::future::join_all;

use super::doors::{Door, Pair, Request};
use crate::support::sql_proxy::{Fault, Moment, Rule};

#[actix_web::test]
async fn a_transaction_whose_client_vanished_ends_at_the_server_by_itself() {
    let pair = Pair::open(&[("server.deadline", "500ms")]).await;
    let requests = [Door::Order, Door::Callback].map(|door| Request::prepare(&pair, door));
    let requests = join_all(requests).await;
    let rule = Rule::new(Moment::Commit, Fault::Vanish).times(2);
    let rule = pair.proxy.arm(rule);

    let heard = join_all(requests.iter().map(Request::send)).await;

    pair.proxy.lift();
    assert_eq!(rule.met(), 2);
    for (request, heard) in requests.iter().zip(&heard) {
        assert!(!request.is_done(heard), "{heard:?}");
        request.insist().await;
        request.assert_done_once().await;
    }
    pair.assert_is_well().await;
}
