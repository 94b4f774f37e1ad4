// program.mjs WHAT: what a program with dpl.mjs can come to.
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { call, DplError, status } from "./dpl.mjs";

const what = process.argv[2];

async function main() {
  if (what === "inner") {
    await call({}, async (call) => console.log(call.op, call.participant, (await status(call.op)).operation.stack.length));
    return;
  }
  if (what === "refused") return call({ op: "over", flags: ["--lock-timeout=50ms"] }, () => {});
  const flags = ["--interval=50ms", "--lock-timeout=50ms"];
  await call({ name: "main", op: "job", tmp: true, flags }, async (call) => {
    switch (what) {
      case "arguments":
        return call.run(["sh", "-c", 'printf "<%s>" "$@" && touch "$0/x"', call.tmp, "a  b", "c\nd", "*", "", "$x", "it's"]);
      case "call fails":
        return call.run(["sh", "-c", "exit 9"]);
      case "throws":
        throw new TypeError("no good");
      case "nested":
        return call.run([process.execPath, fileURLToPath(import.meta.url), "inner"]);
      case "begins twice":
        return (await import("./dpl.mjs")).call({ name: "main", op: "job" }, () => {});
      case "beats":
        for (;;) await call.beat();
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
  console.log(error.name);
  process.exitCode = error instanceof DplError || error.status ? error.status : 1;
});
