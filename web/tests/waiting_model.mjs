// A model that writes as far as the test lets it: some words at once, and the rest when it is told to go on. No clock is in it, so
// whatever a test does in the middle of a text may take as long as the machine needs.

import { once } from "node:events";
import { createServer } from "node:http";

/** Speaks OpenAI's chat interface on this machine. `config` is its part of `holdpoint.toml`. */
export async function waitingModel(name, first, rest) {
  const halted = new Set();
  const server = createServer((request, reply) => {
    request.resume();
    reply.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta, finish_reason = null) => reply.write(`data: ${JSON.stringify({ id: "chat-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    const say = (text) => text.split(/(?<= )/).forEach((word) => send({ content: word }));
    say(first);
    const goOn = () => {
      say(rest);
      send({}, "stop");
      reply.end("data: [DONE]\n\n");
    };
    halted.add(goOn);
    reply.once("close", () => halted.delete(goOn));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    config: `[models.${name}]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:${server.address().port}"\n`,
    goOn: () => halted.forEach((one) => one()),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
