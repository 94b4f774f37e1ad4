// Does tasks of the queue letters, as queue.py does.
import { execSync } from "node:child_process";
const dpl = await import(`${process.argv[2]}/dpl.mjs`);
const { claim, enqueue } = dpl;

const caught = async (kind, work) => {
  try {
    await work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
};
const run = (line) => execSync(line, { stdio: "inherit" });

const first = await enqueue("letters", { text: "to Ada", key: "letter 17" });
if ((await enqueue("letters", { text: "to Ada", key: "letter 17" })) !== first) throw new Error(first);
if (await caught(dpl.Refused, () => enqueue("letters", { text: "to Eve", key: "letter 17" }))) {
  console.log("refused");
}
await enqueue("letters", { argv: ["true"], id: "bad" });

let task = await claim("letters");
await task.work(async (task) => {
  await task.check();
  console.log(task.spec.text, task.attempt);
  if (await caught(dpl.Refused, () => claim("letters"))) console.log("has one");
});

task = await claim("letters");
const error = await caught(Error, () =>
  task.work((task) => {
    console.log(task.id, `['${task.spec.argv}']`, task.attempt);
    throw new Error("no good");
  }),
);
console.log(error.message);

task = await claim("letters", { wait: true });
console.log(task.id, task.attempt);
await task.release();
task = await claim("letters");
await task.work(async (task) => {
  run("dpl-enqueue letters --cancel bad");
  if (await caught(dpl.Lost, () => task.check())) console.log("lost");
});

console.log((await claim("letters")) ?? "None");
if (await caught(dpl.TimedOut, () => claim("letters", { wait: true, timeout: 0.05 }))) {
  console.log("timed out");
}
run("dpl-queue letters --halt lunch");
console.log((await caught(dpl.Halted, () => claim("letters"))).message);
