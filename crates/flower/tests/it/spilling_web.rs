//! Oversized results of the web tools on the real harness, offline: the scripted API searches, and a page is on the
//! loopback interface. Both tools make a request of their own; what a model makes of what was found is the result.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flower::roles::agent;
use flower::runtime::{RuntimeBuilder, Settings};

use crate::played::{Place, versions};

/// A long answer to the request that a tool makes, which this is the beginning of, and the call of the tool.
fn scenario(asked: &str, tool: &str, input: &str) -> String {
    format!(
        r#"
[[thread]]
name = "found"
match = {{ prompt = "{asked}" }}
[[thread.step]]
text = "What the web has of flowers. {{{{filler:9000}}}} That is all."

[[thread]]
name = "main"
[[thread.step]]
[[thread.step.call]]
tool = "{tool}"
input = {{ {input} }}
[[thread.step]]
text = "Done."
"#
    )
}

async fn check_spilled(place: &Place, builder: RuntimeBuilder, tool: &str, scenario: &str) {
    let played = place.play_with(builder, &agent("doer", "").tools([tool, "Read"]), scenario).await.unwrap();
    assert!(played.outcome.ok(), "{:?}", played.outcome.failure);
    let [spill] = &*played.outcome.spills else { panic!("{:?} {:?}", played.events, played.requests) };
    assert_eq!(spill.tool, tool);
    let file = place.workspace().join(".flower/spill").join(&spill.files[0].name);
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("What the web has of flowers.") && text.contains("That is all."), "{text}");
    let last = played.requests.last().unwrap();
    assert!(last.contains("[spilled to ") && !last.contains("That is all."), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_search_of_the_web_found_is_spilled() {
    for version in versions() {
        let place = Place::new();
        let searches = scenario("Perform a web search", "WebSearch", r#"query = "flowers""#);
        check_spilled(&place, place.builder(version), "WebSearch", &searches).await;
    }
}

/// A server that has one page, with a certificate of its own: `WebFetch` takes nothing but https. It ends with the value.
struct Web {
    server: Child,
    port: u16,
    certificate: PathBuf,
}

impl Web {
    fn with_page(dir: &Path) -> Self {
        std::fs::write(dir.join("page.html"), "<p>A page about flowers.</p>\n".repeat(500)).unwrap();
        let names = "subjectAltName=IP:127.0.0.1";
        let made = openssl(dir)
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"])
            .args(["-keyout", "key.pem", "-out", "cert.pem", "-addext", names])
            .status();
        assert!(made.expect("this test needs the program openssl").success());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let server = openssl(dir)
            .args(["s_server", "-quiet", "-accept", &address, "-cert", "cert.pem", "-key", "key.pem", "-WWW"])
            .spawn()
            .unwrap();
        let web = Self { server, port, certificate: dir.join("cert.pem") };
        while TcpStream::connect(&address).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        web
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

fn openssl(dir: &Path) -> Command {
    let mut command = Command::new("openssl");
    command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_of_the_web_says_is_spilled() {
    for version in versions() {
        let place = Place::new();
        let web = Web::with_page(&place.root());
        // Else the vendor is asked first whether the page may be fetched.
        std::fs::create_dir_all(place.config_dir()).unwrap();
        std::fs::write(place.config_dir().join("settings.json"), r#"{"skipWebFetchPreflight":true}"#)
            .unwrap();
        let builder = place.builder(version).settings(Settings::AsUsual);
        let builder = builder.env("NODE_EXTRA_CA_CERTS", &web.certificate);
        let input = format!(r#"url = "https://127.0.0.1:{}/page.html", prompt = "What is there?""#, web.port);
        check_spilled(&place, builder, "WebFetch", &scenario("Web page content", "WebFetch", &input)).await;
    }
}
