//! A proxy in the environment would connect where the guard would not.

use std::{env, process::Command};

use super::{LONG, local_client, post, receiver::Receiver};

const MARK: &str = "TRAPLINE_TEST_WITH_PROXY";
const VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

#[tokio::test]
async fn a_proxy_in_the_environment_is_not_used() {
    if env::var_os(MARK).is_some() {
        let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
        assert_eq!(post(&local_client(), &receiver.url(), LONG).await.status(), Some(204));
        return;
    }
    // Variables can only be set for another process: this test again.
    let proxy = Receiver::answering("HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
    let mut again = Command::new(env::current_exe().unwrap());
    again
        .env(MARK, "1")
        .args(["--exact", "outbound::proxy::a_proxy_in_the_environment_is_not_used"]);
    for variable in VARIABLES {
        again.env(variable, format!("http://{}", proxy.address));
    }
    let output = tokio::task::spawn_blocking(move || again.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert_eq!(proxy.connections(), 0);
}
