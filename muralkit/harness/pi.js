// Pi and OMP: the context baseline is the first message of each call.

import { createHash } from "node:crypto";

export default function (pi) {
  // A program has one muralkit, whoever of its sessions and sub-agents loads this file; of
  // two installations, for the user and for the project, the first one counts.
  const here = Symbol.for("muralkit");
  const shared = (globalThis[here] ??= { scope: SETTINGS.scope, users: 0, ui: null });
  if (shared.scope !== SETTINGS.scope) return;
  const tell = (message) => {
    if (shared.ui) shared.ui.notify(`muralkit: ${message}`, "warning");
    else console.error(`muralkit: ${message}`);
  };
  shared.muralkit ??= new Muralkit({ ...SETTINGS, folder: process.cwd(), tell });
  shared.users += 1;
  const { muralkit } = shared;

  pi.on("session_start", async (_event, ctx) => {
    try {
      if (ctx.hasUI) shared.ui = ctx.ui;
      if (await muralkit.greet(ctx.cwd)) offer();
    } catch {
      // there are no tools, and no notice
    }
  });

  pi.on("context", async (event, ctx) => {
    try {
      const { model } = ctx;
      if (!model) return;
      const system = createHash("sha256").update(String(ctx.getSystemPrompt())).digest("hex");
      const content = await muralkit.baseline({
        project: ctx.cwd,
        session: ctx.sessionManager.getSessionId(),
        model: `${model.provider}/${model.id}`,
        system,
        inputs: model.input ?? null,
      });
      if (!content.length) return;
      return { messages: before(event.messages, content) };
    } catch {
      // the turn goes on without it
    }
  });

  // Before a user's first message, in it: some models want the roles to alternate.
  const before = (messages, content) => {
    const [first, ...rest] = messages;
    if (first?.role !== "user") return [{ role: "user", content, timestamp: 0 }, ...messages];
    const said =
      typeof first.content === "string" ? [{ type: "text", text: first.content }] : first.content;
    return [{ ...first, content: [...content, ...said] }, ...rest];
  };

  const complete = async (ctx, prompt, model) => {
    const { completeSimple } = await import("@mariozechner/pi-ai");
    const [provider, ...rest] = model.split("/");
    const chosen = ctx.modelRegistry.find(provider, rest.join("/"));
    if (!chosen) return "";
    const auth = await ctx.modelRegistry.getApiKeyAndHeaders(chosen);
    if (!auth.ok) return "";
    const messages = [
      { role: "user", content: [{ type: "text", text: prompt }], timestamp: Date.now() },
    ];
    const options = {
      apiKey: auth.apiKey,
      headers: auth.headers,
      signal: AbortSignal.timeout(120_000),
    };
    const answer = await completeSimple(chosen, { messages }, options);
    if (answer.stopReason !== "stop") return "";
    return answer.content
      .filter((part) => part.type === "text")
      .map((part) => part.text)
      .join("");
  };

  pi.on("agent_end", async (_event, ctx) => {
    try {
      if (!ctx.model) return;
      const model = `${ctx.model.provider}/${ctx.model.id}`;
      await muralkit.compress(ctx.cwd, model, (prompt, name) => complete(ctx, prompt, name));
    } catch {
      // a cue that was not made is made another time
    }
  });

  pi.on("session_shutdown", () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete globalThis[here];
    muralkit.server.stop();
  });

  const tool = (name, label, description, properties, approval, execute) =>
    pi.registerTool({
      name,
      label,
      description,
      parameters: { type: "object", properties, required: Object.keys(properties) },
      approval,
      loadMode: "essential",
      async execute(_id, params, _signal, _onUpdate, ctx) {
        const text = await execute(ctx?.cwd ?? process.cwd(), params);
        return { content: [{ type: "text", text }], details: {} };
      },
    });
  const offer = () => {
    tool("mural_recall", "Recall", RECALL, { query: QUERY }, "read", (cwd, { query }) =>
      muralkit.recall(cwd, query),
    );
    tool(
      "mural_remember",
      "Remember",
      REMEMBER,
      { content: CONTENT, category: CATEGORY },
      "write",
      (cwd, asked) => muralkit.remember(cwd, asked.content, asked.category),
    );
  };
}
