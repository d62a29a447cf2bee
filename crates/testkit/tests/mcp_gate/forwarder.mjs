// Adds a token to what a client sends that cannot be told one. Everything else passes as it is: host, origin, streams.

import { createServer, request as forward } from "node:http";

/** The address at which `target` is reached with the token. */
export async function withToken(t, target, token) {
  const { hostname, port, pathname } = new URL(target);
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const onward = forward({ hostname, port, path: pathname, method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      response.flushHeaders();
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}
