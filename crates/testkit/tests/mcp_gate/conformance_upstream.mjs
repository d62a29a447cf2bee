// An upstream with everything that the server scenarios of npm @modelcontextprotocol/conformance 0.1.16 ask of a server: their tools,
// prompts and resources by name. Made with the official package, and speaks on its standard input and output.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as schemas from "@modelcontextprotocol/sdk/types.js";

// One red pixel, and eight samples of silence.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

const text = (words) => ({ type: "text", text: words });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
const moment = () => new Promise((done) => setTimeout(done, 50));

const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} };
const server = new Server({ name: "conformance-upstream", version: "1.0" }, { capabilities });

const nothing = { type: "object", properties: {} };
const oneString = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });

async function askForm(properties, message = "Please fill this in.", required) {
  const answer = await server.elicitInput({ message, requestedSchema: { type: "object", properties, required } });
  return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`);
}

const choices = (...names) => names.map((name, at) => ({ const: name, title: `Choice ${at + 1}` }));
const OPTIONS = ["option1", "option2", "option3"];

/** By name: the schema of the arguments, and what a call does. */
const tools = {
  test_simple_text: [nothing, () => [text("This is a simple text response for testing.")]],
  test_image_content: [nothing, () => [image]],
  test_audio_content: [nothing, () => [{ type: "audio", data: WAV, mimeType: "audio/wav" }]],
  test_embedded_resource: [nothing, () => [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]],
  test_multiple_content_types: [
    nothing,
    () => [text("Multiple content types test:"), image, embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')],
  ],
  test_tool_with_logging: [
    nothing,
    async () => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await server.sendLoggingMessage({ level: "info", data });
        await moment();
      }
      return [text("logged")];
    },
  ],
  test_error_handling: [
    nothing,
    () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  ],
  test_tool_with_progress: [
    nothing,
    async (_, { _meta, sendNotification }) => {
      for (const progress of [0, 50, 100]) {
        const params = { progressToken: _meta?.progressToken, progress, total: 100 };
        if (_meta?.progressToken !== undefined) await sendNotification({ method: "notifications/progress", params });
        await moment();
      }
      return [text("done")];
    },
  ],
  test_sampling: [
    oneString("prompt"),
    async ({ prompt }) => {
      const reply = await server.createMessage({ messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 });
      return [text(`LLM response: ${reply.content.text}`)];
    },
  ],
  test_elicitation: [
    oneString("message"),
    async ({ message }) => [await askForm({ username: { type: "string" }, email: { type: "string" } }, message, ["username", "email"])],
  ],
  test_elicitation_sep1034_defaults: [
    nothing,
    async () => [
      await askForm({
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
    ],
  ],
  test_elicitation_sep1330_enums: [
    nothing,
    async () => [
      await askForm({
        untitledSingle: { type: "string", enum: OPTIONS },
        titledSingle: { type: "string", oneOf: choices("value1", "value2", "value3") },
        legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
        untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
        titledMulti: { type: "array", items: { anyOf: choices("value1", "value2", "value3") } },
      }),
    ],
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    () => [text("seen")],
  ],
};

server.setRequestHandler(schemas.ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, [inputSchema]]) => ({ name, description: `The scenario's ${name}.`, inputSchema })),
}));
server.setRequestHandler(schemas.CallToolRequestSchema, async ({ params }, extra) => {
  try {
    return { content: await tools[params.name][1](params.arguments ?? {}, extra) };
  } catch (error) {
    return { isError: true, content: [text(error.message)] };
  }
});

const said = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });
const prompts = {
  test_simple_prompt: [[], () => said(text("This is a simple prompt for testing."))],
  test_prompt_with_arguments: [["arg1", "arg2"], ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  test_prompt_with_embedded_resource: [
    ["resourceUri"],
    ({ resourceUri }) => said(embedded(resourceUri, "text/plain", "Embedded resource content for testing."), text("Please process it.")),
  ],
  test_prompt_with_image: [[], () => said(image, text("Please analyze the image above."))],
};
server.setRequestHandler(schemas.ListPromptsRequestSchema, () => ({
  prompts: Object.entries(prompts).map(([name, [words]]) => ({
    name,
    description: `The scenario's ${name}.`,
    arguments: words.map((word) => ({ name: word, required: true })),
  })),
}));
server.setRequestHandler(schemas.GetPromptRequestSchema, ({ params }) => prompts[params.name][1](params.arguments ?? {}));
server.setRequestHandler(schemas.CompleteRequestSchema, () => ({ completion: { values: ["testing"], total: 1, hasMore: false } }));

const resources = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "watched" },
};
server.setRequestHandler(schemas.ListResourcesRequestSchema, () => ({
  resources: Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, name: uri, description: `The scenario's ${uri}.`, mimeType })),
}));
server.setRequestHandler(schemas.ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
}));
server.setRequestHandler(schemas.ReadResourceRequestSchema, ({ params: { uri } }) => {
  const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
  const found = id ? { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) } : resources[uri];
  return { contents: [{ uri, ...found }] };
});
server.setRequestHandler(schemas.SubscribeRequestSchema, () => ({}));
server.setRequestHandler(schemas.UnsubscribeRequestSchema, () => ({}));

await server.connect(new StdioServerTransport());
