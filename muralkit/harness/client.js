// The muralkit server as a plug-in sees it: one process, a line of JSON out, a line in.
// Nothing here ever throws into the harness: whatever goes wrong, the turn goes on.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const TIMEOUT = 3000; // ms for an answer: a start and a fold take 1,000 on a slow machine
const PAUSE = 60_000; // ms without muralkit after a failure, twice as long after the next one
const LONGEST_PAUSE = 3_600_000; // ms
const LONGEST = 64 * 2 ** 20; // characters of a line that is still taken for an answer
const SESSIONS = 50; // whose last baseline is kept, for when muralkit fails in mid-session

class Server {
  constructor(command, folder) {
    this.command = command;
    this.folder = folder;
    this.child = null;
    this.waiting = new Map();
    this.number = 0;
    this.text = "";
    this.pausedUntil = 0;
    this.pause = PAUSE;
  }

  // The result of a request. Rejects where there is none in time.
  ask(method, params, timeout = TIMEOUT) {
    if (Date.now() < this.pausedUntil) return Promise.reject(new Error("muralkit is not there"));
    return new Promise((resolve, reject) => {
      const id = ++this.number;
      // The timer keeps the harness alive as long as it waits; the process does not.
      const timer = setTimeout(() => this.fail(new Error("muralkit does not answer")), timeout);
      this.waiting.set(id, { resolve, reject, timer });
      try {
        if (!this.child) this.start();
        this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
      } catch (error) {
        this.fail(error);
      }
    });
  }

  start() {
    // What was written down may have moved; what is on the PATH is the next best.
    const [program, ...rest] = existsSync(this.command[0]) ? this.command : ["muralkit"];
    const options = { cwd: this.folder, stdio: ["pipe", "pipe", "ignore"], windowsHide: true };
    const child = spawn(program, [...rest, "serve"], options);
    const failed = (error) => {
      if (this.child === child) this.fail(error ?? new Error("muralkit has ended"));
    };
    child.on("error", failed);
    child.on("exit", () => failed());
    child.stdin.on("error", failed);
    child.stdout.on("error", failed);
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      if (this.child === child) this.take(text);
    });
    for (const handle of [child, child.stdin, child.stdout]) handle.unref?.();
    this.child = child;
    this.text = "";
  }

  take(text) {
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      this.text += text;
      if (this.text.length > LONGEST) this.fail(new Error("muralkit does not stop talking"));
      return;
    }
    const lines = (this.text + text.slice(0, end)).split("\n");
    this.text = text.slice(end + 1);
    for (const line of lines) this.answer(line);
  }

  answer(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return; // not ours: the time-out judges
    }
    const waiting = this.waiting.get(message?.id);
    if (!waiting) return;
    this.waiting.delete(message.id);
    clearTimeout(waiting.timer);
    this.pause = PAUSE;
    if (message.error) waiting.reject(new Error(String(message.error.message)));
    else waiting.resolve(message.result);
  }

  // End the process, and whatever waits for it; it is not asked again for a while.
  fail(error) {
    this.pausedUntil = Date.now() + this.pause;
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    this.stop(error);
  }

  stop(error = new Error("muralkit was stopped")) {
    const child = this.child;
    this.child = null;
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.waiting.clear();
    try {
      child?.stdin.end();
      child?.kill("SIGKILL");
    } catch {
      // it has gone by itself
    }
  }
}

class Muralkit {
  // `harness` names the envelope; `tell` shows a person a message.
  constructor({ command, protocol, version, harness, folder, tell }) {
    this.server = new Server(command, folder);
    this.about = { client: `muralkit-${harness}`, version, protocol };
    this.harness = harness;
    this.tell = tell;
    this.last = new Map();
    this.compresses = false;
    this.greeted = null;
  }

  // Start the server, so that it is up when the first turn needs it. Whether the mural is
  // switched on: only then are there tools.
  greet(project) {
    this.greeted ??= this.server
      .ask("hello", { ...this.about, project }, TIMEOUT)
      .then((answer) => {
        if (answer?.compatible === false) this.tell(String(answer.advice));
        return answer?.enabled === true;
      })
      .catch(() => false);
    return this.greeted;
  }

  // The parts that go before a turn; where muralkit fails, those of the turn before.
  async baseline(turn) {
    const last = this.last.get(turn.session);
    try {
      const answer = await this.server.ask("baseline", {
        ...turn,
        harness: this.harness,
        protocol: this.about.protocol,
      });
      if (answer?.available === false) throw new Error(String(answer.reason));
      const parts = answer?.enabled === true && Array.isArray(answer.parts) ? answer.parts : [];
      this.compresses = answer?.compress === true;
      this.keep(turn, parts);
      return parts;
    } catch {
      return last && last.model === turn.model ? last.parts : [];
    }
  }

  keep(turn, parts) {
    this.last.delete(turn.session);
    this.last.set(turn.session, { model: turn.model, parts });
    if (this.last.size > SESSIONS) this.last.delete(this.last.keys().next().value);
  }

  // What the recall tool answers the model.
  async recall(project, query) {
    const { matches } = await this.server.ask("recall", { project, query: String(query) }, 10_000);
    if (!matches.length) return "Nothing that is remembered is like it.";
    return matches
      .map(({ certainty, memory }) => `${certainty}: #${memory.id} ${told(memory)}`)
      .join("\n");
  }

  async remember(project, content, category) {
    const asked = { project, content: String(content) };
    if (category) asked.category = String(category);
    const { memory_id, new: added } = await this.server.ask("memory.add", asked, 10_000);
    return added ? `Remembered as #${memory_id}.` : `It is known already, as #${memory_id}.`;
  }

  // Let the host's model make the cues that are missing: `complete(prompt, model)` answers.
  async compress(project, fallback, complete) {
    if (!this.compresses || this.compressing) return;
    this.compressing = true;
    try {
      const asked = { project, harness: this.harness, limit: 10 };
      const { prompts, model } = await this.server.ask("cues.pending", asked, 10_000);
      const chosen = model ?? fallback;
      for (const entry of prompts) {
        let prompt = entry.prompt;
        for (let tries = 0; prompt && tries < 3; tries++) {
          const reply = await complete(prompt, chosen);
          if (!reply) return;
          const { memory_id, content_hash } = entry;
          const replies = [{ memory_id, content_hash, reply }];
          const { outcomes } = await this.server.ask(
            "cues.apply",
            { project, model: chosen, replies },
            10_000,
          );
          prompt = outcomes[0]?.prompt;
        }
      }
    } catch {
      // a cue that was not made is made another time
    } finally {
      this.compressing = false;
    }
  }
}

// A memory on one line of its own, and unable to fake another one or a tag.
const told = ({ category, content }) =>
  `${category}: ${content}`
    .replace(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");

const RECALL =
  "Look up a project memory by something read in the memory mural or elsewhere: a name, path, " +
  "number, hash, or a few words. It also finds what was misread by a character. Use it before you " +
  "rely on an identifier that you read in the picture; only an answer marked exact has it to the letter.";
const REMEMBER =
  "Keep a durable fact of this project for later sessions: one fact, with its names, paths and " +
  "reason in full.";
const QUERY = { type: "string", description: "What was read, as it was read." };
const CONTENT = { type: "string", description: "The fact, in a sentence or two." };
const CATEGORY = {
  type: "string",
  description: "PROJECT_RULES, ARCHITECTURE, CONSTRAINTS, CONFIG_VALUES or NAMING.",
};
