//! Every door and which statuses it can give.

/// Which statuses each door can give, as its tests show.
pub const DOORS: [(&str, &str, &[u16]); 34] = [
    (
        "post",
        "/api/orders/{id}/payments",
        &[
            200, 201, 400, 401, 403, 404, 409, 413, 415, 422, 500, 503, 504,
        ],
    ),
    (
        "get",
        "/api/orders/{id}/payments",
        &[200, 401, 403, 404, 500, 503],
    ),
    ("get", "/api/payments/{id}", &[200, 401, 403, 404, 500, 503]),
    (
        "post",
        "/api/payments/callback/{gateway}",
        &[200, 400, 401, 404, 413, 503],
    ),
    (
        "post",
        "/api/orders/{id}/refunds",
        &[201, 400, 401, 403, 404, 409, 413, 415, 422, 500, 503],
    ),
    (
        "get",
        "/api/orders/{id}/refunds",
        &[200, 401, 403, 404, 500, 503],
    ),
    (
        "put",
        "/api/orders/{id}/shipment",
        &[200, 400, 401, 403, 404, 409, 413, 415, 422, 500, 503],
    ),
    (
        "put",
        "/api/orders/{id}/receipt",
        &[200, 401, 403, 404, 409, 500, 503],
    ),
    (
        "get",
        "/api/failed-messages",
        &[200, 400, 401, 403, 422, 500, 503],
    ),
    (
        "post",
        "/api/failed-messages/{id}/replay",
        &[202, 400, 401, 403, 404, 409, 413, 415, 422, 500, 503],
    ),
    ("get", "/api/jobs", &[200, 401, 403, 500, 503]),
    ("get", "/api/points", &[200, 400, 401, 403, 422, 500, 503]),
    (
        "get",
        "/api/notifications",
        &[200, 400, 401, 403, 422, 500, 503],
    ),
    ("get", "/api/alerts", &[200, 401, 403, 500, 503]),
    (
        "put",
        "/api/alerts/{id}/acknowledgement",
        &[200, 401, 403, 404, 500, 503],
    ),
    ("get", "/api/sandbox/payments/{id}", &[200, 404, 500, 503]),
    (
        "post",
        "/api/sandbox/payments/{id}/actions",
        &[200, 400, 404, 409, 413, 415, 422, 500, 503],
    ),
    ("post", "/api/order-tokens", &[201, 401, 403, 500, 503]),
    (
        "post",
        "/api/orders",
        &[201, 400, 401, 403, 409, 410, 413, 415, 422, 500, 503],
    ),
    ("get", "/api/orders", &[200, 400, 401, 403, 422, 500, 503]),
    ("get", "/api/orders/{id}", &[200, 401, 403, 404, 500, 503]),
    (
        "delete",
        "/api/orders/{id}",
        &[204, 401, 403, 404, 409, 500, 503],
    ),
    (
        "get",
        "/api/orders/{id}/timeline",
        &[200, 401, 403, 404, 500, 503],
    ),
    (
        "put",
        "/api/orders/{id}/address",
        &[200, 400, 401, 403, 404, 409, 412, 413, 415, 422, 500, 503],
    ),
    ("get", "/api/products", &[200, 500, 503]),
    ("get", "/api/products/{id}", &[200, 404, 500, 503]),
    (
        "put",
        "/api/products/{id}",
        &[200, 400, 401, 403, 404, 412, 413, 415, 422, 500, 503],
    ),
    (
        "get",
        "/api/products/{id}/stock",
        &[200, 401, 403, 404, 500, 503],
    ),
    (
        "put",
        "/api/products/{id}/stock",
        &[200, 400, 401, 403, 404, 412, 413, 415, 422, 428, 500, 503],
    ),
    ("get", "/api/dev", &[200]),
    ("post", "/api/dev/sign-in", &[200, 400, 413, 415, 422]),
    ("get", "/healthz", &[200]),
    ("get", "/readyz", &[200, 503]),
    ("get", "/metrics", &[200]),
];
