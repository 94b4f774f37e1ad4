// dpl.mjs: a Node program takes part in a call chain. Needs Node 18 and the dpl commands, nothing else.
//
//     import { call, wait, watch, TimedOut } from "./dpl.mjs";
//
//     await call({ name: "build", op: "build-42", tmp: true }, async (call) => { // popped at the end, as failed after an error
//       await call.run(["./compile", "main.c", `${call.tmp}/main.o`]);           // a call below it
//       for (const file of files) {
//         await call.beat();                                                     // throws Aborted when it is time to clean up
//         await fetch(file, { signal: call.signal });                            // which is aborted then, too
//       }
//     });
//
//     if (!(await wait("night", { state: "completed", timeout: 3600 }))) console.log("the backup has failed");
//     for await (const event of watch("night")) console.log(event.type, event.callId);
//
// The call is alive as long as the process, also while it computes without an await; its end is seen at once. The event loop
// sends heartbeats while the function runs. A command of DPL that fails throws
// the error of its exit status. A call belongs to the thread that made it: a Worker, or a process that this one starts, makes
// calls of its own.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { basename } from "node:path";
import { createInterface } from "node:readline";

/** A command of DPL has failed; status is its exit status. */
export class DplError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.name = new.target.name;
    this.status = status;
  }
}
/** 3: the operation is aborted or in cleanup: clean up and pop. */
export class Aborted extends DplError {}
/** 4: the operation is over. */
export class Over extends DplError {}
/** 5: the call was declared crashed; popping still works. */
export class DeclaredCrashed extends DplError {}
/** 64: wrong arguments or ids. */
export class Usage extends DplError {}
/** 65: a file of the ledger is not valid. */
export class Corrupt extends DplError {}
/** 66: no such ledger, operation, call, group or service. */
export class NotFound extends DplError {}
/** 69: the supervisor or the process is dead. */
export class Unavailable extends DplError {}
/** 75: another process held the lock too long; nothing has changed, try again. */
export class Busy extends DplError {}
/** 76: refused by the protocol: the operation is not running, knows the call already, and so on. */
export class Refused extends DplError {}
/** 77: somebody else owns the ledger or may write to it. */
export class NotPermitted extends DplError {}
/** 124: it was not so in time. */
export class TimedOut extends DplError {}

/** @type {Record<number, typeof DplError>} */
export const ERRORS = {
  3: Aborted, 4: Over, 5: DeclaredCrashed, 64: Usage, 65: Corrupt, 66: NotFound, 69: Unavailable, 75: Busy, 76: Refused,
  77: NotPermitted, 124: TimedOut,
};

/** The command of a call has failed, with its exit status, or 128 + N if signal N killed it. */
export class CommandFailed extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.name = "CommandFailed";
    this.status = status;
  }
}

/** An open call. */
export class Call {
  #stop = new AbortController();

  /** @param {{operationId: string, callId: string, participantId: string, tmp: string | null}} pushed */
  constructor(pushed) {
    this.op = pushed.operationId;
    this.id = pushed.callId;
    this.participant = pushed.participantId;
    /** Its directory, or null. */
    this.tmp = pushed.tmp;
    /** The environment in which a child joins in. @type {Record<string, string | undefined>} */
    this.env = {
      ...process.env, DPL_OP: this.op, DPL_CALL: this.id, DPL_PARTICIPANT: this.participant, ...(this.tmp && { DPL_TMP: this.tmp }),
    };
    /** Is aborted, with the error, when the call is told to clean up, or that it is over or declared crashed. */
    this.signal = this.#stop.signal;
  }

  /**
   * Beat, with any flags of dpl-heartbeat, such as "--cleaning". Throws Aborted, Over or DeclaredCrashed.
   * @param {string[]} flags
   */
  async beat(...flags) {
    try {
      await command(["dpl-heartbeat", "--op", this.op, "--call", this.id, "--pid", `${process.pid}`, ...flags], this.env);
    } catch (error) {
      if (error instanceof Aborted || error instanceof Over || error instanceof DeclaredCrashed) this.#stop.abort(error);
      throw error;
    }
  }

  /**
   * Run argv as a call below this one, with flags of dpl-run, such as "--timeout=10m", and options of spawn; with
   * {stdio: "pipe"}, return its output. Throws CommandFailed if it fails, whatever its exit status, unless a flag like
   * "--ok=0,1" says that this is success; Aborted if something else failed the operation, Over, DeclaredCrashed or TimedOut
   * if it was stopped; DplError if it cannot be run, or dpl-run itself fails.
   * @param {string[]} argv
   * @param {string[]} [flags]
   * @param {import("node:child_process").SpawnOptions} [options]
   */
  async run(argv, flags = [], options = {}) {
    const { stdio = "inherit" } = options;
    const files = Array.isArray(stdio) ? [...stdio] : [stdio, stdio, stdio];
    while (files.length < 3) files.push("pipe"); // as spawn has it
    const { status, stdout, last } = await finish(
      ["dpl-run", ...flags, `--status-fd=${files.length}`, "--", ...argv],
      { env: this.env, ...options, stdio: /** @type {any} */ ([...files, "pipe"]) },
    );
    const account = last ? JSON.parse(last) : { by: "dpl-run", reason: `exit status ${status}` }; // it was killed
    if (account.by !== "command") throw failed(status, `dpl-run: ${argv[0]}: ${account.reason}`);
    if (!account.ok) throw new CommandFailed(status, `${argv[0]}: exit status ${status}`);
    return stdout;
  }

  /**
   * Pop the call, as failed if a failure is given. The end of the function does it.
   * @param {string} [failure]
   */
  async end(failure) {
    const pop = ["dpl-pop", "--op", this.op, "--call", this.id, ...(failure ? ["--fail", "--reason", `call ${this.id}: ${failure}`] : [])];
    for (let tries = 2; ; tries--) {
      try {
        await command(pop, this.env);
        made.delete(`${this.op} ${this.id}`);
        return;
      } catch (error) {
        if (!(error instanceof Busy) || tries === 0) throw error; // who is done is not to be taken for dead because of that
      }
    }
  }
}

/** The calls that this thread has made, and not popped. @type {Set<string>} */
const made = new Set();
/** Those of them that it is in. @type {Set<string>} */
const open = new Set();

/**
 * Take part in the operation op ($DPL_OP, else a new one) with the call name (else one is made up), by participant (the name
 * of this program), with any flags of dpl-push; tmp gives it a directory of its own, which goes with it. Returns what work
 * returns. What it throws fails the call, and goes on. Throws what dpl-push and dpl-pop do, such as Busy, and Refused where
 * the operation is not running.
 * @template T
 * @param {{name?: string, op?: string, participant?: string, tmp?: boolean, flags?: string[]}} options
 * @param {(call: Call) => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function call({ name, op, participant, tmp, flags = [] }, work) {
  participant ??= basename(process.argv[1] ?? "").replace(/[^\w.:-]|\.(?=\.)/g, "-").replace(/^[._:-]+/, "").slice(0, 60) || "node";
  const push = ["dpl-push", "--json", "--pid", `${process.pid}`, "--participant", participant];
  if (op) push.push("--op", op);
  if (name) push.push("--call", name);
  if (tmp) push.push("--tmp");
  const pushed = JSON.parse(await command([...push, ...flags]));
  const self = new Call(pushed);
  const key = `${self.op} ${self.id}`;
  if (open.has(key) || (!pushed.changed && !made.has(key))) { // fine to dpl-push, as if said again, but maybe by another thread
    throw failed(76, `${self.op}: call ${self.id} is open in this process`);
  }
  open.add(key);
  made.add(key);
  const ended = new AbortController();
  const beats = beatOn(self, ended.signal);
  try {
    let result;
    try {
      result = await work(self);
    } catch (error) {
      const popped = self.end(flags.includes("--no-fail-on-crash") ? "" : `${error}`);
      await popped.catch((unpopped) => console.error(unpopped.message)); // what went wrong first is what is thrown
      throw error;
    }
    await self.end();
    return result;
  } finally {
    open.delete(key);
    ended.abort();
    await beats;
  }
}

/** @param {Call} self @param {AbortSignal} ended */
async function beatOn(self, ended) {
  const shown = await status(self.op).catch(() => undefined);
  const interval = shown?.operation.heartbeatIntervalMs ?? 1500;
  for (;;) {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, interval);
      ended.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
      if (ended.aborted) resolve(clearTimeout(timer));
    });
    if (ended.aborted) return;
    try {
      await self.beat();
    } catch (error) {
      if (error instanceof Over || error instanceof DeclaredCrashed) return; // others may pass
    }
  }
}

/**
 * Return what dpl-status --json says of op.
 * @param {string} op
 * @returns {Promise<any>}
 */
export async function status(op) {
  return JSON.parse(await command(["dpl-status", "--op", op, "--json"]));
}

/**
 * Wait for op, or all of several, to come to state, with any flags of dpl-wait. Return whether it has; false as soon as it
 * cannot any more. Throws TimedOut after timeout seconds.
 * @param {string | string[]} op
 * @param {{state?: string, timeout?: number, flags?: string[]}} [options]
 */
export async function wait(op, { state = "terminal", timeout, flags = [] } = {}) {
  const limit = timeout === undefined ? [] : ["--timeout", `${timeout}s`];
  try {
    await command(["dpl-wait", ...[op].flat().map((one) => `--op=${one}`), "--for", state, ...limit, ...flags]);
    return true;
  } catch (error) {
    if (error instanceof DplError && error.status === 1) return false;
    throw error;
  }
}

/**
 * Yield what happens in op, as dpl-watch prints it, until op ends.
 * @param {string} op
 * @param {number} [since]
 * @returns {AsyncGenerator<any, void>}
 */
export async function* watch(op, since) {
  const argv = ["--op", op, ...(since === undefined ? [] : ["--since", `${since}`])];
  const watcher = spawn("dpl-watch", argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => watcher.on("error", reject).on("close", (code) => resolve(code ?? 0)));
  ended.catch(() => {}); // it is thrown below
  try {
    for await (const line of createInterface({ input: watcher.stdout })) yield JSON.parse(line);
    const code = await ended;
    if (code !== 0) throw failed(code, `dpl-watch: ${op}: exit status ${code}`);
  } finally {
    watcher.kill(); // does nothing if it has ended
  }
}

/**
 * Run a command of DPL, and return what it prints.
 * @param {string[]} argv
 * @param {Record<string, string | undefined>} [env]
 */
async function command(argv, env) {
  const { status, stdout, stderr } = await finish(argv, { stdio: ["ignore", "pipe", "pipe"], env: env ?? process.env });
  if (status !== 0) throw failed(status, stderr.trim() || `${argv[0]}: exit status ${status}`);
  return stdout;
}

/**
 * @param {string[]} argv
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<{status: number, stdout: string, stderr: string, last: string}>} last is what came from the last of stdio
 */
function finish([program, ...args], options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, options);
    let [stdout, stderr, last] = ["", "", ""];
    child.stdout?.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
    const other = child.stdio.length > 3 ? /** @type {import("node:stream").Readable} */ (child.stdio.at(-1)) : null;
    other?.setEncoding("utf8").on("data", (text) => (last += text));
    child.on("error", reject).on("close", (code, signal) => resolve({ status: code ?? (signal ? 128 + constants.signals[signal] : 125), stdout, stderr, last }));
  });
}

/** @param {number} status @param {string} message */
function failed(status, message) {
  return new (ERRORS[status] ?? DplError)(status, message);
}
