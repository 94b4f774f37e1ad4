// program.mjs WHAT: use dpl.mjs in the way, or end in the way, that WHAT names.
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { call, DplError, status } from "./dpl.mjs";

const what = process.argv[2];

async function main() {
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
      case "throws odd text":
        throw new TypeError(`\0${"x".repeat(200000)}`);
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
  console.log(error.name);
  process.exitCode = error instanceof DplError || error.status ? error.status : 1;
});
