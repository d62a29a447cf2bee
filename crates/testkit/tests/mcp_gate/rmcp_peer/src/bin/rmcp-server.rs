//! An upstream on standard input and output, of both eras. Its tools work in the folder of its first argument.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;

#[derive(Clone)]
struct Writer {
    room: PathBuf,
    tool_router: ToolRouter<Self>,
}

#[derive(Deserialize, JsonSchema)]
struct Written {
    name: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Listed {
    path: String,
}

#[tool_router]
impl Writer {
    #[tool(description = "Writes a file.")]
    async fn write(&self, Parameters(file): Parameters<Written>) -> Result<String, String> {
        std::fs::write(self.room.join(file.name), file.text).map_err(|error| error.to_string())?;
        Ok("written".to_owned())
    }

    #[tool(description = "Names the files of a folder.")]
    async fn list_directory(
        &self,
        Parameters(folder): Parameters<Listed>,
    ) -> Result<String, String> {
        names(Path::new(&folder.path)).map_err(|error| error.to_string())
    }
}

fn names(folder: &Path) -> std::io::Result<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names.join("\n"))
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Writer {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let room = std::env::args().nth(1).context("the folder is missing")?.into();
    let writer = Writer { room, tool_router: Writer::tool_router() };
    let pipes = (tokio::io::stdin(), tokio::io::stdout());
    writer.serve(pipes).await?.waiting().await?;
    Ok(())
}
