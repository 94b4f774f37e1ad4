// dpl.mjs: Node programs make calls of an operation, and do the tasks of queues. Needs Node 18 and the
// dpl commands.
//
//     import { call, wait, watch, enqueue, claim, TimedOut } from "./dpl.mjs";
//
//     // A call: the end of the function pops it, and an error fails it.
//     await call({ name: "build", op: "build", tmp: true, flags: ["--reuse"] }, async (call) => {
//       await call.run(["./compile", "main.c", `${call.tmp}/main.o`]); // a call below it
//       for (const file of files) {
//         await call.heartbeat(); // throws Aborted when it is time to clean up
//         await fetch(file, { signal: call.signal }); // is aborted then as well
//       }
//     });
//
//     const completed = await wait("night", { state: "completed", timeout: 3600 });
//     for await (const event of watch("night")) console.log(event.type, event.callId);
//
//     // A queue: the end of the function settles the task as done, and an error as failed.
//     await enqueue("letters", { text: "to Ada", key: "letter 17" });
//     for (let task; (task = await claim("letters", { wait: true })); ) {
//       await task.work(async (task) => send(task.spec.text));
//     }
//
// The call is alive as long as the process, even while that computes without an await, and others
// see at once when the process ends. The event loop sends heartbeats while the function runs. A
// command of DPL that fails throws the error of its exit status. A call belongs to the thread that
// made it: a Worker or a child process makes its own calls. A relative $DPL_LEDGER means a directory
// below the working directory at the import of this module, also after process.chdir.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { basename, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

/** A command of DPL failed; status is its exit status. */
export class DplError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.name = new.target.name;
    this.status = status;
  }
}
/**
 * 3: the operation is aborted or in cleanup: clean up and pop. operation is its id. cause has the
 * facts of what ended it: call, and where they are known evidence, status or signal, and reason. It
 * is null if no call did. The message says the same.
 */
export class Aborted extends DplError {
  /** @type {string | null} */
  operation = null;
  /**
   * @type {{call: string, evidence?: string, status?: number, signal?: string, reason?: string}
   *   | null}
   */
  cause = null;
}
/** 4: the operation is over. */
export class Over extends DplError {}
/** 5: the call was declared crashed; it can still be popped. */
export class DeclaredCrashed extends DplError {}
/** 5: the claim of a task is over: stop working on it. */
export class Lost extends DeclaredCrashed {}
/** 3: the queue is halted. */
export class Halted extends DplError {}
/** 64: wrong arguments or ids. */
export class Usage extends DplError {}
/** 65: a file of the ledger is not valid. */
export class Corrupt extends DplError {}
/** 66: no such ledger, operation, call, group or service. */
export class NotFound extends DplError {}
/** 69: the supervisor or the process is dead. */
export class Unavailable extends DplError {}
/** 75: another process held the lock for too long; nothing has changed, try again. */
export class Busy extends DplError {}
/** 76: refused by the protocol: the operation is not running, has had the call, and so on. */
export class Refused extends DplError {}
/** 77: another user owns the ledger or may write to it. */
export class NotPermitted extends DplError {}
/** 124: the state did not come, or the command did not end, in time. */
export class TimedOut extends DplError {}

/** @type {Record<number, typeof DplError>} */
export const ERRORS = {
  3: Aborted, 4: Over, 5: DeclaredCrashed, 64: Usage, 65: Corrupt, 66: NotFound, 69: Unavailable,
  75: Busy, 76: Refused, 77: NotPermitted, 124: TimedOut,
};

/** The command of a call failed, with its exit status, or 128 + N if signal N killed it. */
export class CommandFailed extends Error {
  /**
   * What it has written, if call.run was to return that.
   * @type {string | Buffer}
   */
  stdout = "";
  /** @type {string | Buffer} */
  stderr = "";

  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.name = "CommandFailed";
    this.status = status;
  }
}

/** Where this program has begun: a relative path of the ledger is meant from there. */
let began = "/";
try {
  began = process.cwd();
} catch {
  // The directory was removed.
}
if (process.env.DPL_LEDGER) process.env.DPL_LEDGER = resolve(began, process.env.DPL_LEDGER);

/** @returns {Record<string, string | undefined>} */
function environment() {
  const { DPL_LEDGER: ledger } = process.env;
  return { ...process.env, ...(ledger && { DPL_LEDGER: resolve(began, ledger) }) };
}

/** An open call. */
export class Call {
  #stop = new AbortController();
  #run;

  /**
   * @param {{operationId: string, runId?: string | null, callId: string, participantId: string,
   *   tmp: string | null, traceparent: string | null}} pushed
   */
  constructor(pushed) {
    this.op = pushed.operationId;
    this.id = pushed.callId;
    this.#run = pushed.runId ?? "";
    this.participant = pushed.participantId;
    /** Its directory, or null. */
    this.tmp = pushed.tmp;
    /**
     * The environment for children that make calls below it.
     * @type {Record<string, string | undefined>}
     */
    this.env = {
      ...environment(),
      DPL_TMP: undefined, // that of an outer call
      DPL_HANDLE: undefined,
      DPL_OP: this.op,
      DPL_RUN: this.#run,
      DPL_CALL: this.id,
      DPL_PARTICIPANT: this.participant,
      ...(this.tmp && { DPL_TMP: this.tmp }),
      ...(pushed.traceparent && { TRACEPARENT: pushed.traceparent }),
    };
    /**
     * Is aborted, with the error, when the call should clean up, or when it is over or declared
     * crashed.
     */
    this.signal = this.#stop.signal;
  }

  /**
   * Send a heartbeat, with any flags of dpl-heartbeat, such as "--cleaning". Throws Aborted, Over
   * or DeclaredCrashed.
   * @param {string[]} flags
   */
  async heartbeat(...flags) {
    const ids = ["--op", this.op, "--call", this.id, "--pid", `${process.pid}`];
    try {
      await command(["dpl-heartbeat", ...ids, ...flags], this.env);
    } catch (caught) {
      const error = await this.#explained(caught);
      if (error instanceof Aborted || error instanceof Over || error instanceof DeclaredCrashed) {
        this.#stop.abort(error);
      }
      throw error;
    }
  }

  /**
   * Run argv as a call below this one, with flags of dpl-run, such as "--timeout=10m", and options
   * of spawn. With {stdio: "pipe"} its standard input is options.input, or nothing, and this returns
   * what it writes to stdout, or with options.encoding "utf8" or "buffer" {stdout, stderr}, as text or
   * as bytes. Throws CommandFailed if the command fails,
   * whatever its exit status, unless a flag such as "--ok=0,1" makes that success; Aborted if
   * something else failed the operation; Over, DeclaredCrashed or TimedOut if dpl-run stopped it;
   * DplError if it cannot be run, or if dpl-run itself fails.
   * @param {string[]} argv
   * @param {string[]} [flags]
   * @param {import("node:child_process").SpawnOptions &
   *   {input?: string | Uint8Array, encoding?: "utf8" | "buffer"}} [options]
   * @returns {Promise<any>}
   */
  async run(argv, flags = [], { input, encoding, ...options } = {}) {
    const { stdio = "inherit" } = options;
    const files = Array.isArray(stdio) ? [...stdio] : [stdio, stdio, stdio];
    while (files.length < 3) files.push("pipe"); // the default of spawn
    const { status, last, ...written } = await finish(
      ["dpl-run", ...flags, `--status-fd=${files.length}`, "--", ...argv],
      { env: this.env, ...options, stdio: /** @type {any} */ ([...files, "pipe"]) },
      { input },
    );
    const output = encoding === "buffer" ? written
      : { stdout: written.stdout.toString(), stderr: written.stderr.toString() };
    const killed = { by: "dpl-run", reason: `exit status ${status}` };
    const account = last.length ? JSON.parse(last.toString()) : killed;
    if (account.by !== "command") {
      throw await this.#explained(failed(status, `dpl-run: ${argv[0]}: ${account.reason}`));
    }
    if (!account.ok) {
      throw Object.assign(new CommandFailed(status, `${argv[0]}: exit status ${status}`), output);
    }
    return encoding ? output : output.stdout;
  }

  /**
   * Return error, or if it is Aborted, one that says what ended the operation.
   * @param {unknown} error
   */
  async #explained(error) {
    if (!(error instanceof Aborted)) return error;
    let { message } = error;
    let cause = null;
    try {
      const shown = await command(["dpl-status", "--op", this.op, "--json"], this.env);
      const { runId = "", transitions = [] } = JSON.parse(shown).operation;
      for (const change of transitions) {
        if (change.from !== "running" || runId !== this.#run) continue;
        const how = change.to === "aborted" ? "was aborted" : "failed";
        message = `operation ${this.op} ${how}: ${change.reason ?? ""}`;
        cause = change.cause ?? null;
      }
    } catch {
      // Without dpl-status the error says less.
    }
    const explained = new Aborted(error.status, message);
    return Object.assign(explained, { operation: this.op, cause });
  }

  /**
   * Pop the call, as failed if a failure is given. The end of the function does it. Throws Aborted
   * if it has popped a call that did not fail, and the operation has been aborted or has failed
   * elsewhere.
   * @param {string} [failure]
   */
  async end(failure) {
    const pop = ["dpl-pop", "--json", "--op", this.op, "--call", this.id];
    if (failure) pop.push("--fail", `--reason=${argument(`call ${this.id}: ${failure}`)}`);
    const { state } = JSON.parse(await end(pop, this.env));
    made.delete(`${this.op} ${this.id}`);
    if (!failure && state !== "running" && state !== "completed") {
      throw await this.#explained(new Aborted(3, `operation ${this.op} is ${state}`));
    }
  }
}

/** The calls that this thread has made and not popped. @type {Set<string>} */
const made = new Set();
/** Those of them whose function is running. @type {Set<string>} */
const open = new Set();

/**
 * Make a call of the operation op, with any flags of dpl-push. By default op is $DPL_OP or a new
 * operation, name is made up, and participant is the name of this program. tmp gives the call its
 * own directory, which is deleted with it. Returns what work returns. If work throws, the call
 * fails, and the error is thrown again. Throws the errors of dpl-push and dpl-pop: Busy, or
 * Refused if the operation is not running; and Aborted if it was aborted or has failed elsewhere
 * when work returns.
 * @template T
 * @param {{name?: string, op?: string, participant?: string, tmp?: boolean,
 *   flags?: string[]}} options
 * @param {(call: Call) => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function call({ name, op, participant, tmp, flags = [] }, work) {
  const script = basename(process.argv[1] ?? "").replace(/[^\w.:-]|\.(?=\.)/g, "-");
  const program = script.replace(/^[._:-]+/, "").slice(0, 60) || "node";
  const push = ["dpl-push", "--json", "--pid", `${process.pid}`];
  push.push("--participant", participant ?? program);
  if (op) push.push("--op", op);
  if (name) push.push("--call", name);
  if (tmp) push.push("--tmp");
  const pushed = JSON.parse(await command([...push, ...flags], environment()));
  const self = new Call(pushed);
  const key = `${self.op} ${self.id}`;
  // dpl-push takes it for the same push again, but it may be that of another thread.
  if (open.has(key) || (!pushed.changed && !made.has(key))) {
    throw failed(76, `${self.op}: call ${self.id} is open in this process`);
  }
  open.add(key);
  made.add(key);
  const ended = new AbortController();
  const beats = sendHeartbeats(self, ended.signal);
  try {
    let result;
    try {
      result = await work(self);
    } catch (error) {
      const popped = self.end(flags.includes("--no-fail-on-crash") ? "" : said(error));
      await popped.catch((unpopped) => {
        if (!(unpopped instanceof Aborted)) console.error(said(unpopped)); // it was popped
      });
      throw error; // the first one
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
async function sendHeartbeats(self, ended) {
  const looking = command(["dpl-status", "--op", self.op, "--json"], self.env);
  const shown = await looking.then(JSON.parse).catch(() => undefined);
  const interval = shown?.operation.heartbeatIntervalMs ?? 1500;
  for (;;) {
    await sleep(interval, undefined, { signal: ended }).catch(() => {});
    if (ended.aborted) return;
    try {
      await self.heartbeat();
    } catch (error) {
      if (error instanceof Over || error instanceof DeclaredCrashed) return;
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
 * Wait until op, or each of several, is in state, with any flags of dpl-wait. Returns false as soon
 * as that has become impossible. Throws TimedOut after timeout seconds, and the reason of signal
 * when that is aborted.
 * @param {string | string[]} op
 * @param {{state?: string, timeout?: number, flags?: string[], signal?: AbortSignal}} [options]
 */
export async function wait(op, { state = "terminal", timeout, flags = [], signal } = {}) {
  const limit = timeout === undefined ? [] : ["--timeout", `${timeout}s`];
  try {
    const ops = [op].flat().map((one) => `--op=${one}`);
    const ours = `--pid=${process.pid}`; // it ends with this process
    const argv = ["dpl-wait", ...ops, "--for", state, ours, ...limit, ...flags];
    await command(argv, environment(), signal);
    return true;
  } catch (error) {
    signal?.throwIfAborted();
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
  const watcher = spawn("dpl-watch", argv, { stdio: ["ignore", "pipe", "inherit"],
    env: environment() });
  const ended = new Promise((resolve, reject) => {
    watcher.on("error", reject).on("close", (code) => resolve(code ?? 0));
  });
  ended.catch(() => {}); // it is thrown below
  try {
    for await (const line of createInterface({ input: watcher.stdout })) yield JSON.parse(line);
    const code = await ended;
    if (code !== 0) throw failed(code, `dpl-watch: ${op}: exit status ${code}`);
  } finally {
    watcher.kill(); // does nothing if it has ended
  }
}

/** A task that this process has claimed. It is settled once; work does it. */
export class Task {
  #env;

  /**
   * @param {{queueId: string, taskId: string, epoch: number, attempt: number, spec: any}} claimed
   * @param {Record<string, string | undefined>} [env]
   */
  constructor(claimed, env = environment()) {
    this.#env = env;
    this.queue = claimed.queueId;
    this.id = claimed.taskId;
    /** The number of the claim. */
    this.epoch = claimed.epoch;
    /** The number of claims of the task. */
    this.attempt = claimed.attempt;
    /** What was enqueued. */
    this.spec = claimed.spec;
    this.settled = false;
  }

  /**
   * The task is done. Throws Lost if the claim is over, Refused if it was settled otherwise.
   * @param {string[]} flags of dpl-settle, such as "--report=FILE"
   */
  done(...flags) {
    return this.#settle("--done", ...flags);
  }

  /** The attempt failed: it counts. @param {string} reason @param {string[]} flags */
  fail(reason = "", ...flags) {
    return this.#settle("--fail", `--reason=${argument(reason)}`, ...flags);
  }

  /** Give the task back; the attempt does not count. */
  release() {
    return this.#settle("--release");
  }

  /** Give the task back for some time; the attempt does not count. @param {number} seconds */
  snooze(seconds) {
    return this.#settle(`--snooze=${seconds}s`);
  }

  /** The task waits for a person. @param {string} reason */
  block(reason) {
    return this.#settle(`--block=${argument(reason)}`);
  }

  /** Throw Lost if the claim is over: look right before an effect that must not happen twice. */
  async check() {
    await this.#held(command(["dpl-claim", ...this.#ids(), "--check"], this.#env));
  }

  /** Give the task back as if it had not been claimed: nothing of it was begun. */
  async unclaim() {
    await this.#settle("--unclaim");
  }

  /**
   * Do the task: settle it as done, or as failed if work throws. Returns what work returns.
   * @template T
   * @param {(task: Task) => T | Promise<T>} work
   * @returns {Promise<T>}
   */
  async work(work) {
    let result;
    try {
      result = await work(this);
    } catch (error) {
      const settled = this.settled ? Promise.resolve() : this.fail(said(error));
      await settled.catch((unsettled) => console.error(said(unsettled)));
      throw error; // the first one
    }
    if (!this.settled) await this.done();
    return result;
  }

  /** @param {string[]} flags */
  async #settle(...flags) {
    await this.#held(end(["dpl-settle", ...this.#ids(), ...flags], this.#env));
    this.settled = true;
  }

  #ids() {
    return ["--queue", this.queue, "--task", this.id, "--epoch", `${this.epoch}`];
  }

  /** @param {Promise<unknown>} done */
  async #held(done) {
    try {
      await done;
    } catch (error) {
      if (!(error instanceof DeclaredCrashed)) throw error;
      this.settled = true;
      throw new Lost(error.status, error.message);
    }
  }
}

/**
 * Add a task to queue, with a command (argv) or a text, and any flags of dpl-enqueue. Returns its id.
 * A task with the same id or key is not added again, even after it has ended. Throws Refused if
 * another task has the id, or the queue is closed or full.
 * @param {string} queue
 * @param {{argv?: string[], id?: string, key?: string, text?: string, flags?: string[]}} task
 */
export async function enqueue(queue, { argv, id, key, text, flags = [] }) {
  const options = ["--queue", queue];
  if (id !== undefined) options.push(`--id=${id}`);
  if (key !== undefined) options.push(`--key=${key}`);
  if (text !== undefined) options.push(`--text=${text}`);
  const words = argv ? ["--", ...argv] : [];
  return (await command(["dpl-enqueue", ...options, ...flags, ...words])).trim();
}

/**
 * Claim a task of queue for this process, with any flags of dpl-claim. Returns null if none is ready,
 * or will ever be. With wait it waits for one; throws TimedOut after timeout seconds. Throws Halted
 * unless it waits, and Refused if this process has a task already. When signal is aborted it throws
 * the reason; a task that was claimed meanwhile is given back as if it had not been.
 * @param {string} queue
 * @param {{wait?: boolean, timeout?: number, flags?: string[], signal?: AbortSignal}} [options]
 * @returns {Promise<Task | null>}
 */
export async function claim(queue, { wait = false, timeout, flags = [], signal } = {}) {
  const limit = wait ? ["--wait"] : [];
  if (timeout !== undefined) limit.push(`--timeout=${timeout}s`);
  const argv = ["dpl-claim", "--queue", queue, "--json", "--pid", `${process.pid}`];
  const env = environment();
  let task;
  try {
    const claiming = command([...argv, ...limit, ...flags], env, signal, wait);
    task = new Task(JSON.parse(await claiming), env);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Aborted) throw new Halted(error.status, `${queue} is halted`);
    if (error instanceof Over || (error instanceof DplError && error.status === 1)) return null;
    throw error;
  }
  if (signal?.aborted) {
    await task.unclaim().catch((unsettled) => console.error(said(unsettled)));
    throw signal.reason;
  }
  return task;
}

/**
 * Return what was thrown, as text. It is not empty.
 * @param {unknown} thrown
 */
function said(thrown) {
  try {
    return String(thrown) || "an error";
  } catch {
    return "an error"; // without toString
  }
}

/** The longest reason, in characters. */
const longest = 20000;

/**
 * Return text as an argument of a command: short enough, in UTF-8, and without NUL.
 * @param {string} text
 */
function argument(text) {
  const short = text.length <= longest ? text : `${text.slice(0, longest)} ...`;
  const lone = (/** @type {string} */ half) => `\\u${half.charCodeAt(0).toString(16)}`;
  return short.replaceAll("\0", "\\x00").replace(/\p{Surrogate}/gu, lone);
}

/**
 * Run a command that ends a call or task. That must not look crashed because the ledger is busy, or
 * because the commands cannot be started for a moment.
 * @param {string[]} argv
 * @param {Record<string, string | undefined>} env
 */
async function end(argv, env) {
  for (const pause of [100, 1000, 0]) {
    try {
      return await command(argv, env);
    } catch (error) {
      const passing = error instanceof Busy || !(error instanceof DplError);
      if (!passing || pause === 0) throw error;
      await sleep(pause);
    }
  }
}

/**
 * Run a command of DPL, and return what it prints. If signal is aborted, ask it to end if it may be
 * killed, and wait for its answer: what it has done is always known.
 * @param {string[]} argv
 * @param {Record<string, string | undefined>} [env]
 * @param {AbortSignal} [signal]
 * @param {boolean} [mayKill]
 */
async function command(argv, env = environment(), signal = undefined, mayKill = true) {
  signal?.throwIfAborted();
  /** @type {import("node:child_process").SpawnOptions} */
  const options = { stdio: ["ignore", "pipe", "pipe"], env };
  // In a session of its own, Ctrl-C in a terminal does not end it while it has something to tell.
  options.detached = process.platform !== "win32";
  const ended = await finish(argv, options, { signal: mayKill ? signal : undefined });
  const [stdout, stderr] = [ended.stdout.toString(), ended.stderr.toString()];
  const { status } = ended;
  if (status !== 0) throw failed(status, sentence(stderr) || `${argv[0]}: exit status ${status}`);
  return stdout;
}

/**
 * Return what a command has printed about its failure, which is JSON with --json.
 * @param {string} stderr
 */
function sentence(stderr) {
  const text = stderr.trim();
  try {
    const { error } = JSON.parse(text.slice(text.lastIndexOf("\n{") + 1));
    if (error.message) return `${error.program}: ${error.message}`;
  } catch {
    // It is text.
  }
  return text;
}

/**
 * Run argv to its end. last is what it wrote to the last file of stdio.
 * @param {string[]} argv
 * @param {import("node:child_process").SpawnOptions} options
 * @param {{input?: string | Uint8Array, signal?: AbortSignal}} [more] signal asks it to end
 * @returns {Promise<{status: number, stdout: Buffer, stderr: Buffer, last: Buffer}>}
 */
function finish([program, ...args], options, { input, signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, options);
    const stop = () => child.kill();
    signal?.addEventListener("abort", stop, { once: true });

    child.stdin?.on("error", () => {}).end(input); // it need not read that
    /** @type {[Buffer[], Buffer[], Buffer[]]} */
    const [stdout, stderr, last] = [[], [], []];
    child.stdout?.on("data", (bytes) => stdout.push(bytes));
    child.stderr?.on("data", (bytes) => stderr.push(bytes));
    if (child.stdio.length > 3) {
      const other = /** @type {import("node:stream").Readable} */ (child.stdio.at(-1));
      other.on("data", (bytes) => last.push(bytes));
    }

    const done = () => signal?.removeEventListener("abort", stop);
    child.on("error", (error) => (done(), reject(error))).on("close", (code, number) => {
      done();
      const status = code ?? (number ? 128 + constants.signals[number] : 125);
      const [out, err, end] = [stdout, stderr, last].map((parts) => Buffer.concat(parts));
      resolve({ status, stdout: out, stderr: err, last: end });
    });
  });
}

/** @param {number} status @param {string} message */
function failed(status, message) {
  return new (ERRORS[status] ?? DplError)(status, message);
}
