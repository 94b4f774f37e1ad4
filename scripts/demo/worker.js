#!/usr/bin/env node
// worker.js CALL [CALLEE...]: a worker of the demo.
//
// It takes part in $DPL_OP as CALL. It calls CALLEE and waits for it; without one it works until
// the file `go` appears. It changes the ledger only with the commands, and prints each as it was
// typed.
'use strict'
const { spawnSync } = require('child_process')
const fs = require('fs')

const [call, ...callee] = process.argv.slice(2)
const say = line => fs.writeSync(1, `worker.js${line}\n`)

function run(...command) {
  say(` $ ${command.join(' ')}`)
  const options = { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }
  const done = spawnSync(command[0], command.slice(1), options)
  say(`: exit status ${done.status}`)
  return done
}

function work() {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const deadline = Date.now() + 60000
  while (!fs.existsSync('go') && Date.now() < deadline) Atomics.wait(pause, 0, 0, 20)
}

const pushed = run('dpl-push', '--json', '--participant', 'worker.js', '--call', call,
  '--pid', String(process.pid), '--tmp', '--resource', `work/${call}.txt`)
if (pushed.status !== 0) process.exit(1)
fs.writeFileSync(`${JSON.parse(pushed.stdout).tmp}/scratch`, `scratch of ${call}\n`)
fs.writeFileSync(`work/${call}.txt`, `half a result of ${call}\n`)

let failed = false
if (callee.length > 0) {
  failed = ![0, 3].includes(spawnSync(callee[0], callee.slice(1), { stdio: 'inherit' }).status)
} else {
  work()
}

let status = run('dpl-heartbeat', '--call', call).status
if (status === 3) { // aborted or in cleanup
  run('dpl-heartbeat', '--call', call, '--cleaning')
  fs.unlinkSync(`work/${call}.txt`)
  run('dpl-pop', '--call', call)
} else if (status === 0 && !failed) {
  fs.writeFileSync(`work/${call}.txt`, `result of ${call}\n`)
  status = run('dpl-pop', '--call', call).status
} else if (status === 0) {
  run('dpl-pop', '--call', call, '--fail')
  status = 1
}
process.exit(status)
