//! Login links, cookies, CSRF, and how failures are slowed down.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Plan, World, planned, read, text, world};

/// A browser's request: cookie, and whatever headers it adds.
async fn browse(
    world: &World,
    method: Method,
    path: &str,
    cookie: &str,
    headers: &[(&str, &str)],
) -> (u16, Value) {
    let mut request =
        world.client.request(method.clone(), world.url(path)).header("cookie", cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if method == Method::POST {
        request = request.json(&json!({"agent": "ops"}));
    }
    read(request.send().await.expect("a reply")).await
}

#[tokio::test]
async fn i33_a_login_link_is_used_up_by_its_button_only() {
    let world = world().await;
    let (status, login) = world.post("ana", "/v1/logins", json!({"person": "bob"})).await;
    assert_eq!(status, 201, "{login}");
    let url = text(&login, "url");
    let code = url.split_once("/login?code=").expect("a code").1.to_owned();
    assert!(url.starts_with(&format!("http://{}/login?code=", world.address)), "{url}");
    for _ in 0..3 {
        let reply = world.client.get(&url).send().await.expect("a reply");
        assert_eq!(reply.status(), 200);
        assert!(reply.headers().get("set-cookie").is_none());
        let page = reply.text().await.expect("a page");
        assert!(page.contains("<form method=\"post\" action=\"/login\">"), "{page}");
    }
    let reply = world.use_code(&code).await;
    assert_eq!(
        (reply.status().as_u16(), &reply.headers()["location"]),
        (303, &"/".parse().expect("a value"))
    );
    let cookie = reply.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
    assert_eq!(world.use_code(&code).await.status(), 401, "the second time");
    let cookie = cookie.split(';').next().expect("a cookie");
    let (_, me) = browse(&world, Method::GET, "/v1/me", cookie, &[]).await;
    assert_eq!(
        (&me["id"], &me["kind"], &me["name"]),
        (&json!("bob"), &json!("person"), &json!("BOB"))
    );
    assert_eq!(me["demo"], json!([{"name": "approve", "say": "call wipe {}"}]));
    assert_eq!((&me["agents"], &me["warnings"]), (&json!(["ops"]), &json!(["this is a test"])));
}

#[tokio::test]
async fn a_page_shows_no_foreign_code() {
    let world = world().await;
    let path = "/login?code=%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    let reply = world.client.get(world.url(path)).send().await.expect("a reply");
    assert_eq!(reply.status(), 400);
    assert!(!reply.text().await.expect("text").contains("<script>"));
    let (status, me) = world.get("bob", "/v1/me").await;
    assert_eq!((status, &me["csrf"]), (200, &Value::Null), "a token needs none");
}

#[tokio::test]
async fn i33_a_cookie_changes_something_only_from_our_own_page() {
    let world = world().await;
    let (cookie, csrf) = world.log_in("bob").await;
    let (other, _) = world.log_in("eve").await;
    let before = world.state().await;
    let ours = format!("http://{}", world.address);
    let post = |headers: Vec<(&'static str, String)>| {
        let (world, cookie) = (&world, &cookie);
        async move {
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            browse(world, Method::POST, "/v1/sessions", cookie, &headers).await
        }
    };
    let with = |more: &[(&'static str, &str)]| {
        let mut headers = vec![("x-holdpoint-csrf", csrf.clone())];
        headers.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        headers
    };
    for headers in [
        Vec::new(),
        vec![("x-holdpoint-csrf", String::new())],
        vec![("x-holdpoint-csrf", "wrong".to_owned())],
        with(&[("origin", "https://evil.example")]),
        with(&[("origin", "null")]),
        with(&[("sec-fetch-site", "cross-site")]),
        with(&[("sec-fetch-site", "same-site")]),
    ] {
        let (status, problem) = post(headers.clone()).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{headers:?}");
    }
    let theirs = [("x-holdpoint-csrf", csrf.as_str())];
    assert_eq!(browse(&world, Method::POST, "/v1/sessions", &other, &theirs).await.0, 403);
    assert_eq!(world.state().await, before);
    let (status, session) =
        post(with(&[("origin", &ours), ("sec-fetch-site", "same-origin")])).await;
    assert_eq!((status, &session["creator"]), (201, &json!("bob")));
}

#[tokio::test]
async fn answers_say_which_surface_they_came_by() {
    let world = world().await;
    let (cookie, csrf) = world.log_in("bob").await;
    for (via, header) in
        [("cli", Some("cli")), ("web", Some("web")), ("api", Some("feishu")), ("api", None)]
    {
        let hold = world
            .open_hold("gate", json!({"kind": "choose", "title": "x", "options": ["a"]}))
            .await;
        let path = format!("/v1/holds/{}/answer", text(&hold, "id"));
        let mut request =
            world.request("bob", Method::POST, &path).json(&json!({"answer": {"choose": ["a"]}}));
        if let Some(header) = header {
            request = request.header("x-holdpoint-via", header);
        }
        let (status, answered) = read(request.send().await.expect("a reply")).await;
        assert_eq!((status, &answered["decision"]["via"]), (200, &json!(via)));
    }
    let hold =
        world.open_hold("gate", json!({"kind": "choose", "title": "x", "options": ["a"]})).await;
    let request = world.client.post(world.url(&format!("/v1/holds/{}/answer", text(&hold, "id"))));
    let request = request.header("cookie", &cookie).header("x-holdpoint-csrf", &csrf);
    let reply = request.json(&json!({"answer": {"choose": ["a"]}})).send().await.expect("a reply");
    assert_eq!(read(reply).await.1["decision"]["via"], "web");
}

#[tokio::test]
async fn logging_out_ends_the_login() {
    let world = world().await;
    let (cookie, csrf) = world.log_in("bob").await;
    let out = |csrf: String| {
        let request = world.client.post(world.url("/logout")).header("cookie", &cookie);
        request.header("x-holdpoint-csrf", csrf).send()
    };
    assert_eq!(out("wrong".into()).await.expect("a reply").status(), 403);
    let reply = out(csrf).await.expect("a reply");
    assert_eq!(reply.status(), 303);
    assert!(reply.headers()["set-cookie"].to_str().expect("text").contains("Max-Age=0"));
    assert_eq!(browse(&world, Method::GET, "/v1/me", &cookie, &[]).await.0, 401);
}

#[tokio::test]
async fn failures_are_slowed_down_and_the_right_token_is_not() {
    let world = world().await;
    let guess = || async {
        let request = world.client.get(world.url("/v1/me")).bearer_auth("hp_person_guess");
        request.send().await.expect("a reply")
    };
    for _ in 0..20 {
        assert_eq!(guess().await.status(), 401);
    }
    let reply = guess().await;
    assert_eq!(reply.status(), 429);
    assert!(
        reply.headers()["retry-after"]
            .to_str()
            .is_ok_and(|text| text.parse::<u64>().is_ok_and(|s| s > 0))
    );
    assert_eq!(world.use_code("0123").await.status(), 429, "codes count too");
    assert_eq!(world.get("bob", "/v1/me").await.0, 200);
    let basic = world.client.get(world.url("/v1/me")).header("authorization", "Basic YTpi");
    let reply = basic.send().await.expect("a reply");
    assert_eq!(
        (reply.status().as_u16(), reply.headers().contains_key("www-authenticate")),
        (401, true)
    );
}

#[tokio::test]
async fn a_trusted_proxy_says_who_comes_and_how() {
    let plan = || Plan {
        trusts_loopback: true,
        public_url: Some("https://holds.example".into()),
        ..Plan::default()
    };
    let world = planned(plan()).await;
    let (_, login) = world.post("ana", "/v1/logins", json!({"person": "bob"})).await;
    let url = text(&login, "url");
    let code = url.strip_prefix("https://holds.example/login?code=").expect("the public address");
    let request = world.client.post(world.url("/login")).body(format!("code={code}"));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let reply = request
        .header("x-forwarded-proto", "https")
        .header("origin", "https://holds.example")
        .send()
        .await
        .expect("a reply");
    assert_eq!(reply.status(), 303);
    assert!(reply.headers()["set-cookie"].to_str().expect("text").ends_with("; Secure"));
    let world = &world;
    let guess = |from: &'static str| async move {
        let request =
            world.client.get(world.url("/v1/me")).bearer_auth("x").header("x-forwarded-for", from);
        request.send().await.expect("a reply").status().as_u16()
    };
    for _ in 0..20 {
        assert_eq!(guess("203.0.113.1, 198.51.100.7").await, 401);
    }
    assert_eq!(guess("192.0.2.1, 198.51.100.7").await, 429, "what stands left of it is hearsay");
    assert_eq!(guess("198.51.100.8").await, 401, "another address");
}

#[tokio::test]
async fn a_revoked_or_expired_token_opens_nothing() {
    let world = world().await;
    let (status, minted) = world
        .post(
            "ana",
            "/v1/tokens",
            json!({"person": "bob", "scopes": ["run"], "note": "laptop", "expires_in_s": 60}),
        )
        .await;
    assert_eq!(status, 201, "{minted}");
    let use_it = || async {
        let request = world.client.get(world.url("/v1/me")).bearer_auth(text(&minted, "token"));
        read(request.send().await.expect("a reply")).await
    };
    assert_eq!(use_it().await.1["scopes"], json!(["run"]));
    let (_, tokens) = world.get("ana", "/v1/tokens").await;
    let listed = &tokens["items"][0];
    assert_eq!(
        (&listed["id"], &listed["person"], &listed["note"]),
        (&minted["id"], &json!("bob"), &json!("laptop"))
    );
    assert!(listed.get("token").is_none() && !tokens.to_string().contains(&text(&minted, "token")));
    let path = format!("/v1/tokens/{}", text(&minted, "id"));
    assert_eq!(world.delete("ana", &path).await.0, 204);
    assert_eq!(world.delete("ana", &path).await.0, 404);
    assert_eq!(use_it().await.0, 401);
    for (body, field) in [
        (json!({"scopes": ["ask"]}), "person"),
        (json!({"person": "bob", "scopes": []}), "scopes"),
        (json!({"person": "bob", "scopes": ["all"]}), "scopes"),
        (json!({"program": "p", "scopes": ["answer"]}), "scopes"),
    ] {
        let (status, problem) = world.post("ana", "/v1/tokens", body).await;
        assert_eq!((status, &problem["field"]), (422, &json!(field)));
    }
}

#[tokio::test]
async fn i33_a_page_of_another_scheme_is_another_site() {
    let world = world().await;
    let (cookie, csrf) = world.log_in("bob").await;
    let before = world.state().await;
    let host = world.address.to_string();
    for origin in [format!("https://{host}"), format!("http://{}:1", world.address.ip())] {
        let headers = [("x-holdpoint-csrf", csrf.as_str()), ("origin", origin.as_str())];
        let (status, problem) =
            browse(&world, Method::POST, "/v1/sessions", &cookie, &headers).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{origin}");
    }
    assert_eq!(world.state().await, before);
    // Under the public address the scheme is the one that people are told, whatever the proxy says.
    let public = Plan { public_url: Some("https://hold.example".into()), ..Plan::default() };
    let world = planned(public).await;
    let (cookie, csrf) = world.log_in("bob").await;
    for (origin, wanted) in [("https://hold.example", 201), ("http://hold.example", 403)] {
        let headers =
            [("x-holdpoint-csrf", csrf.as_str()), ("origin", origin), ("host", "hold.example")];
        let (status, told) = browse(&world, Method::POST, "/v1/sessions", &cookie, &headers).await;
        assert_eq!(status, wanted, "{origin}: {told}");
    }
}

#[tokio::test]
async fn a_login_returns_to_the_hold_and_never_to_another_site() {
    let world = world().await;
    let body = json!({"person": "bob", "next": "/holds/hold_01jd"});
    let (status, login) = world.post("ana", "/v1/logins", body).await;
    assert_eq!(status, 201, "{login}");
    let url = text(&login, "url");
    assert!(url.ends_with("&next=/holds/hold_01jd"), "{url}");
    let page = world.client.get(&url).send().await.expect("a reply").text().await.expect("a page");
    assert!(page.contains("name=\"next\" value=\"/holds/hold_01jd\""), "{page}");
    let body = json!({"person": "bob", "next": "//evil.example"});
    assert_eq!(world.post("ana", "/v1/logins", body).await.0, 422);
    for (next, leads_to) in [
        ("/holds/hold_01jd", "/holds/hold_01jd"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/%5Cevil.example", "/"),
        ("/%0d%0aset-cookie:x=y", "/"),
    ] {
        let person = domain::person::PersonId::new("bob");
        let code = world.engine.new_login(&person).await.expect("a code");
        let request = world.client.post(world.url("/login"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let reply = request.body(format!("code={code}&next={next}")).send().await.expect("a reply");
        assert_eq!(reply.status(), 303);
        assert_eq!(reply.headers()["location"], leads_to, "{next}");
        assert_eq!(reply.headers().get_all("set-cookie").iter().count(), 1);
    }
    // Whoever opens a hold without a login gets the page, which says what to do.
    let reply = world.client.get(world.url("/holds/hold_01jd")).send().await.expect("a reply");
    assert_eq!(reply.status(), 200);
}

#[tokio::test]
async fn a_login_that_is_used_lasts_longer() {
    let world = planned(Plan { session_ms: Some(60_000), ..Plan::default() }).await;
    let (cookie, csrf) = world.log_in("bob").await;
    let me = async || {
        let request = world.client.get(world.url("/v1/me")).header("cookie", &cookie);
        request.send().await.expect("a reply")
    };
    // Not with every request, but after a thirtieth of its time.
    let mut renewed = None;
    for _ in 0..1000 {
        let reply = me().await;
        assert_eq!(reply.status(), 200);
        if let Some(set) = reply.headers().get("set-cookie") {
            renewed = Some(set.to_str().expect("text").to_owned());
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let renewed = renewed.expect("a longer cookie");
    assert!(renewed.starts_with(&format!("{cookie}; ")), "{renewed}");
    assert!(renewed.contains("HttpOnly; SameSite=Strict"), "{renewed}");
    assert!(me().await.headers().get("set-cookie").is_none(), "not twice");
    // Logging out ends it, and nothing brings it back.
    let out = world.client.post(world.url("/logout")).header("cookie", &cookie);
    let reply = out.header("x-holdpoint-csrf", &csrf).send().await.expect("a reply");
    let cleared = reply.headers()["set-cookie"].to_str().expect("text");
    assert!(cleared.contains("Max-Age=0"), "{cleared}");
    assert_eq!(me().await.status(), 401);
}
