// OpenCode: the context baseline goes before the first user message of each call.

const SYSTEM = "You write cues.";
const AGENT = "muralkit-cues";
const MARK = "prt_muralkit"; // how the ids of our parts start
const COMPACTING = 1000; // ms after its hook in which the next call is the compaction's own

export const MuralkitPlugin = async ({ client, directory }) => {
  const tell = (message) => {
    const body = { service: "muralkit", level: "warn", message };
    client.app.log({ body }).catch(() => {});
    client.tui
      .showToast({ body: { title: "muralkit", message, variant: "warning" } })
      .catch(() => {});
  };
  const muralkit = new Muralkit({ ...SETTINGS, folder: directory, tell });
  const known = new Map();
  const own = new Set(); // sessions in which cues are made
  const compacting = new Map();
  let last = null; // the model of the last turn
  const enabled = await muralkit.greet(directory);

  const inputs = async (model) => {
    const name = `${model.providerID}/${model.modelID}`;
    if (!known.has(name)) {
      const wait = new Promise((resolve) => setTimeout(resolve, 1000, null));
      const answer = await Promise.race([client.config.providers(), wait]);
      const provider = answer?.data?.providers?.find((entry) => entry.id === model.providerID);
      const found = provider?.models?.[model.modelID]?.capabilities?.input;
      if (!found) return null;
      known.set(name, found);
    }
    return known.get(name);
  };

  const inject = async (messages) => {
    const users = messages.filter((message) => message.info.role === "user");
    // Installed for the user and for the project, there are two of us: one is enough.
    if (users[0]?.parts.some((part) => part.id?.startsWith(MARK))) return;
    const [first, turn] = [users[0], users.at(-1)];
    const session = turn?.info.sessionID;
    if (!turn?.info.model || own.has(session)) return;
    const since = Date.now() - (compacting.get(session) ?? 0);
    compacting.delete(session);
    if (since < COMPACTING) return;
    const { providerID, modelID } = turn.info.model;
    last = `${providerID}/${modelID}`;
    const parts = await muralkit.baseline({
      project: directory,
      session,
      model: last,
      system: JSON.stringify([turn.info.agent, turn.info.system ?? ""]),
      inputs: await inputs(turn.info.model).catch(() => null),
    });
    const messageID = first.info.id;
    first.parts.unshift(
      ...parts.map((part, index) => ({
        ...part,
        id: `${MARK}${index}`,
        sessionID: session,
        messageID,
      })),
    );
  };

  const complete = async (prompt, model) => {
    const [providerID, ...rest] = model.split("/");
    const created = await client.session.create({ body: { title: AGENT } });
    const id = created.data.id;
    own.add(id);
    try {
      const body = {
        agent: AGENT,
        model: { providerID, modelID: rest.join("/") },
        parts: [{ type: "text", text: prompt }],
      };
      const answer = await client.session.prompt({ path: { id }, body });
      if (answer.data?.info?.error) return "";
      const texts = (answer.data?.parts ?? []).filter((part) => part.type === "text");
      return texts.map((part) => part.text).join("");
    } finally {
      await client.session.delete({ path: { id } }).catch(() => {});
      own.delete(id);
    }
  };

  return {
    config: async (config) => {
      config.agent ??= {};
      config.agent[AGENT] ??= {
        mode: "primary",
        hidden: true,
        prompt: SYSTEM,
        tools: { "*": false },
        permission: { "*": "deny" },
      };
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      compacting.set(sessionID, Date.now());
    },
    "experimental.chat.messages.transform": async (_input, output) => {
      try {
        await inject(output.messages);
      } catch {
        // the turn goes on without it
      }
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle" || own.has(event.properties.sessionID) || !last) return;
      muralkit.compress(directory, last, complete);
    },
    // Without the mural, a request is as it would be without us.
    tool: !enabled
      ? {}
      : {
          mural_recall: {
            description: RECALL,
            args: { query: QUERY },
            execute: ({ query }) => muralkit.recall(directory, query),
          },
          mural_remember: {
            description: REMEMBER,
            args: { content: CONTENT, category: CATEGORY },
            execute: ({ content, category }) => muralkit.remember(directory, content, category),
          },
        },
    dispose: async () => muralkit.server.stop(),
  };
};
