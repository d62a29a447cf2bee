//! What a server, or whoever answers in its place, tells the command line. It is printed, so it must
//! not reach the terminal as more than text.

use holdpoint::cli::problem::Problem;

use super::Pieces;

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let status = 400 + u16::from(pieces.byte());
    let body = pieces.rest();
    for content_type in ["application/problem+json", "text/html"] {
        for with_token in [true, false] {
            let problem = Problem::read(status, content_type, body, with_token);
            let told = problem.to_string();
            let control = told.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(control, None, "{told:?}");
            assert!(told.len() <= 2_000 + 16 * bytes.len());
            let _ = problem.is_about_audience();
        }
    }
}
