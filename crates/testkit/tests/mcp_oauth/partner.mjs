// An OAuth provider (`oidc-provider`) and an MCP server behind it (the official SDK, with its own bearer check), both on sockets of
// this machine.

import { once } from "node:events";
import { createServer } from "node:http";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import express from "express";
import Provider from "oidc-provider";

export async function listen(t, handler) {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

/** A provider. `settings.ttl` is the life of an access token in seconds, and may be changed at any time. */
export async function provider(t, settings = {}) {
  const { server, origin } = await listen(t);
  const partner = { origin, ttl: 600, seen: [], refreshes: 0, ...settings };
  const op = new Provider(origin, {
    scopes: ["openid", "offline_access", "mcp:tools"],
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: "mcp:tools",
          audience: resource,
          accessTokenFormat: "opaque",
          accessTokenTTL: partner.ttl,
        }),
      },
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
  });
  op.use(async (ctx, next) => {
    await next();
    const { oidc } = ctx;
    if (oidc?.route === "token") {
      partner.seen.push({ grant: oidc.params?.grant_type, resource: oidc.params?.resource, status: ctx.status });
      if (oidc.params?.grant_type === "refresh_token" && ctx.status === 200) partner.refreshes += 1;
    }
    if (oidc?.route === "registration") partner.registered = oidc.body;
    if (oidc?.route === "authorization") partner.asked = { ...oidc.params };
  });
  const answer = op.callback();
  server.on("request", (request, response) => partner.intercept?.(request, response) || answer(request, response));
  partner.op = op;
  return partner;
}

/** An MCP server that takes only the provider's tokens for itself. `notes` is what its tool wrote, `refused` the tokens that it turned away. */
export async function mcpServer(t, partner, change = {}) {
  const app = express();
  app.use(express.json());
  const { origin } = await listen(t, app);
  const url = `${origin}/mcp`;
  const notes = [];
  const tokens = new Set();
  const verifier = {
    async verifyAccessToken(token) {
      const found = await partner.op.AccessToken.find(token);
      const audience = [found?.aud].flat();
      if (!found?.isValid || !audience.includes(url)) throw new InvalidTokenError("unknown token");
      tokens.add(token);
      return { token, clientId: found.clientId, scopes: [...found.scopes], expiresAt: found.exp, extra: {} };
    },
  };
  app.get("/.well-known/oauth-protected-resource/mcp", (_request, response) =>
    response.json({ resource: url, authorization_servers: [partner.origin], scopes_supported: ["mcp:tools"], ...change }),
  );
  const refused = [];
  app.use("/mcp", (request, response, next) => {
    response.on("finish", () => response.statusCode === 401 && request.headers.authorization && refused.push(request.headers.authorization));
    next();
  });
  const guard = requireBearerAuth({
    verifier,
    requiredScopes: ["mcp:tools"],
    resourceMetadataUrl: change.metadataUrl ?? `${origin}/.well-known/oauth-protected-resource/mcp`,
  });
  app.post("/mcp", guard, async (request, response) => {
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    server.registerTool("write_note", { description: "Writes a note" }, async () => {
      notes.push("written");
      return { content: [{ type: "text", text: "written" }] };
    });
    // It repeats what it was sent, as careless servers do.
    server.registerTool("echo_token", { description: "Says how it was called" }, async (extra) => ({
      content: [{ type: "text", text: `called with ${extra.authInfo.token}` }],
    }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on("close", () => transport.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  app.all("/mcp", (_request, response) => response.status(405).end());
  return { url, notes, tokens, refused };
}

/** A person's browser: it keeps cookies, follows redirects, and fills in the provider's forms. */
export class Browser {
  cookies = new Map();

  async open(url, init = {}) {
    for (let hops = 0; hops < 20; hops += 1) {
      const { host } = new URL(url);
      const own = [...(this.cookies.get(host) ?? new Map())].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = { ...init.headers, ...(own && { cookie: own }) };
      const reply = await fetch(url, { ...init, headers, redirect: "manual" });
      const jar = this.cookies.get(host) ?? new Map();
      for (const line of reply.headers.getSetCookie()) {
        const [pair] = line.split(";");
        jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
      }
      this.cookies.set(host, jar);
      const next = reply.headers.get("location");
      if (!next) return { url, status: reply.status, text: await reply.text(), headers: reply.headers };
      url = new URL(next, url).href;
      init = {};
    }
    throw new Error("too many redirects");
  }

  /** Sends the first form of a page, with what stands in it and `more`. */
  submit(page, more = {}) {
    const action = new URL(/<form[^>]*action="([^"]*)"/.exec(page.text)[1], page.url).href;
    const fields = new URLSearchParams();
    for (const [input] of page.text.matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1];
      if (name) fields.set(name, /value="([^"]*)"/.exec(input)?.[1]?.replaceAll("&amp;", "&") ?? "");
    }
    for (const [name, value] of Object.entries(more)) fields.set(name, value);
    const headers = { "content-type": "application/x-www-form-urlencoded", origin: new URL(page.url).origin };
    return this.open(action, { method: "POST", headers, body: fields.toString() });
  }

  /** Logs in at the provider and consents. Returns the page of ours that it comes back to. */
  async consent(authorizeUrl) {
    let page = await this.open(authorizeUrl);
    for (let forms = 0; forms < 4 && !page.url.includes("/oauth/callback"); forms += 1) {
      page = await this.submit(page, page.text.includes('name="login"') ? { login: "carol", password: "x" } : {});
    }
    return page;
  }
}
