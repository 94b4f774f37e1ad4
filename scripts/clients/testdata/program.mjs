// program.mjs WHAT: use dpl.mjs in the way, or end in the way, that WHAT names.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { call, claim, DplError, status, wait } from "./dpl.mjs";

const what = process.argv[2];

/** Wait until condition is true. */
const until = async (condition) => {
  while (!condition()) await setTimeout(20);
};

/** Hold the lock of the queue q until the file go is there. */
async function hold() {
  const lock = `${process.env.DPL_LEDGER}/queues/q.json.lock`;
  const wait = "touch held; until [ -e go ]; do sleep 0.02; done";
  const holder = spawn("flock", [lock, "sh", "-c", wait], { stdio: "inherit" });
  await until(() => existsSync("held"));
  const inode = `:${statSync(lock).ino} `;
  const waits = (line) => line.includes("->") && line.includes(inode);
  return [holder, () => readFileSync("/proc/locks", "utf8").split("\n").some(waits)];
}

async function claimAborted() {
  const control = new AbortController();
  const { signal } = control;
  const said = (promise) => promise.then(console.log, (error) => console.log(error));
  execFileSync("dpl-queue", ["q", "--create"]);
  const all = [said(wait("later", { state: "running", signal })),
    said(claim("q", { wait: true, signal }))];
  await setTimeout(20); // or later, when they wait
  control.abort("enough");
  await Promise.all(all);
  await said(claim("q", { signal }));

  execFileSync("dpl-enqueue", ["q", "--id", "a", "--", "true"]);
  const [holder, waits] = await hold();
  const other = new AbortController();
  const claiming = said(claim("q", { signal: other.signal }));
  await until(waits);
  other.abort("enough");
  const released = new Promise((resolve) => holder.on("close", resolve));
  writeFileSync("go", "");
  await Promise.all([claiming, released]);
  const { tasks } = JSON.parse(readFileSync(`${process.env.DPL_LEDGER}/queues/q.json`));
  const { taskId, state = null, attempts = null } = tasks[0];
  console.log(JSON.stringify([[taskId, state, attempts]]));
}

async function main() {
  if (what === "claim aborted") return claimAborted();
  if (what === "sentence") {
    execFileSync("dpl-queue", ["q", "--create"]);
    return claim("nope").catch((error) => console.log(error.message));
  }
  if (what === "another directory") {
    mkdirSync("below");
    process.chdir("below");
  }
  if (what === "inner") {
    const depth = async (op) => (await status(op)).operation.stack.length;
    await call({}, async (call) => console.log(call.op, call.participant, await depth(call.op)));
    return;
  }
  if (what === "worker below") {
    await call({ name: "main" }, () => {}).catch((error) => console.log(error.name));
    return call({ name: "below" }, async (call) => {
      console.log((await status(call.op)).operation.stack.length);
    });
  }
  if (what === "refused") return call({ op: "over", flags: ["--lock-timeout=50ms"] }, () => {});
  const flags = ["--interval=50ms", "--lock-timeout=50ms"];
  await call({ name: "main", op: "job", tmp: true, flags }, async (call) => {
    switch (what) {
      case "arguments":
        return call.run(["sh", "-c", 'printf "<%s>" "$@" && touch "$0/x"', call.tmp,
          "a  b", "c\nd", "*", "", "$x", "it's"]);
      case "call fails":
        return call.run(["sh", "-c", "exit 9"]);
      case "call exits as dpl-run may":
        for (const status of [3, 4, 5, 124, 125, 126]) {
          await call.run(["sh", "-c", `exit ${status}`], ["--no-fail-on-crash"])
            .catch((error) => console.log(error.status));
        }
        console.log((await call.run(["sh", "-c", "echo x; exit 3"], ["--ok=2-4"],
          { stdio: ["ignore", "pipe"] })).trim());
        return;
      case "call is stopped":
        return call.run(["sleep", "600"], ["--timeout=50ms"]);
      case "call hides a failure":
        return call.run(["sh", "-c", "dpl-run -- false || true"]);
      case "cause":
        return call.run(["sh", "-c", "dpl-run --call bad -- sh -c 'exit 9' || true"]);
      case "ends of an aborted operation":
        execFileSync("dpl-abort", ["--reason", "enough"], { env: call.env });
        return;
      case "throws odd text":
        throw new TypeError(`\udcff\0${"x".repeat(200000)}`);
      case "throws nothing":
        throw Object.create(null);
      case "another directory":
        await call.heartbeat();
        return call.run(["true"]);
      case "output": {
        const print = ["sh", "-c", "cat; printf x >&2"];
        const input = Buffer.from([255, 105, 110]);
        const bytes = { stdio: "pipe", encoding: "buffer", input };
        console.log(await call.run(print, [], { stdio: "pipe", encoding: "utf8", input: "in" }));
        const { stdout, stderr } = await call.run(print, [], bytes);
        console.log(stdout, stderr);
        await call.run(["cat"], [], { stdio: "pipe" }); // gets nothing, and does not wait for it
        return call.run(["sh", "-c", "printf '\\377'; exit 7"], ["--no-fail-on-crash"], bytes)
          .catch((error) => console.log(error.stdout, error.status));
      }
      case "many heartbeats": {
        const warnings = [];
        process.on("warning", (warning) => warnings.push(warning.name));
        const { revision } = (await status("job")).operation;
        while ((await status("job")).operation.revision < revision + 15) await setTimeout(50);
        return console.log(warnings.join() || "quiet");
      }
      case "cannot be run":
        return call.run(["/"]);
      case "worker": {
        const worker = new Worker(fileURLToPath(import.meta.url),
          { argv: ["worker below"], env: { ...call.env } });
        await new Promise((resolve, reject) => worker.on("error", reject).on("exit", resolve));
        return console.log((await status("job")).operation.state);
      }
      case "throws":
        throw new TypeError("no good");
      case "nested":
        return call.run([process.execPath, fileURLToPath(import.meta.url), "inner"]);
      case "begins twice":
        return (await import("./dpl.mjs")).call({ name: "main", op: "job" }, () => {});
      default:
        writeFileSync("started", "");
        try {
          while (!existsSync("go")) await setTimeout(20, undefined, { signal: call.signal });
        } catch {
          console.log("cleaned up after 3");
          throw call.signal.reason;
        }
    }
  });
}

main().catch((error) => {
  if (what === "cause") console.log(`${error.message} ${error.operation}`, error.cause);
  console.log(error.name ?? "an error");
  process.exitCode = error instanceof DplError || error.status ? error.status : 1;
});
