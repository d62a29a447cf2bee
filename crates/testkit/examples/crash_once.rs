#[tokio::main]
async fn main() {
    let report = testkit::crash::Crash::from_env(100).run().await;
    eprintln!("{report}");
}
