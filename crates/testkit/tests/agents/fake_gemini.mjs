// As much of Gemini's API as its CLI needs for a conversation with tools: the same scripts as the fake model's, in its words.

import { createServer } from "node:http";

/** Turns are told by `results`, the tool results in the last message, or by the number of the `request`. */
export async function fakeGemini() {
  const fake = { turns: [], requests: [] };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
    fake.requests.push(body);
    const last = body.contents?.at(-1)?.parts ?? [];
    const results = last.filter((part) => part.functionResponse);
    const fits = ({ when = {} }) =>
      (when.results ?? results.length) === results.length && (when.request ?? fake.requests.length) === fake.requests.length;
    const parts = (fake.turns.find(fits)?.say ?? []).map((block) =>
      block.type === "call"
        ? { functionCall: { id: block.id, name: block.name, args: block.input } }
        : { text: block.text.replace("{result}", JSON.stringify(results)) },
    );
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const said = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }], usageMetadata };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(said)}\r\n\r\n`);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  fake.url = `http://127.0.0.1:${server.address().port}`;
  fake.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return fake;
}
