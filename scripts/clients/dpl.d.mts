// The types of dpl.mjs, as tsc --allowJs --declaration --emitDeclarationOnly --target es2022 --module
// nodenext writes them.
/// <reference types="node" resolution-mode="require"/>
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
export function call<T>({ name, op, participant, tmp, flags }: {
    name?: string;
    op?: string;
    participant?: string;
    tmp?: boolean;
    flags?: string[];
}, work: (call: Call) => T | Promise<T>): Promise<T>;
/**
 * Return what dpl-status --json says of op.
 * @param {string} op
 * @returns {Promise<any>}
 */
export function status(op: string): Promise<any>;
/**
 * Wait until op, or each of several, is in state, with any flags of dpl-wait. Returns false as soon
 * as that has become impossible. Throws TimedOut after timeout seconds, and the reason of signal
 * when that is aborted.
 * @param {string | string[]} op
 * @param {{state?: string, timeout?: number, flags?: string[], signal?: AbortSignal}} [options]
 */
export function wait(op: string | string[], { state, timeout, flags, signal }?: {
    state?: string | undefined;
    timeout?: number | undefined;
    flags?: string[] | undefined;
    signal?: AbortSignal | undefined;
} | undefined): Promise<boolean>;
/**
 * Yield what happens in op, as dpl-watch prints it, until op ends.
 * @param {string} op
 * @param {number} [since]
 * @returns {AsyncGenerator<any, void>}
 */
export function watch(op: string, since?: number | undefined): AsyncGenerator<any, void>;
/**
 * Add a task to queue, with a command (argv) or a text, and any flags of dpl-enqueue. Returns its id.
 * A task with the same id or key is not added again, even after it has ended. Throws Refused if
 * another task has the id, or the queue is closed or full.
 * @param {string} queue
 * @param {{argv?: string[], id?: string, key?: string, text?: string, flags?: string[]}} task
 */
export function enqueue(queue: string, { argv, id, key, text, flags }: {
    argv?: string[];
    id?: string;
    key?: string;
    text?: string;
    flags?: string[];
}): Promise<string>;
/**
 * Claim a task of queue for this process, with any flags of dpl-claim. Returns null if none is ready,
 * or will ever be. With wait it waits for one; throws TimedOut after timeout seconds. Throws Halted
 * unless it waits, and Refused if this process has a task already. When signal is aborted it throws
 * the reason; a task that was claimed meanwhile is given back as if it had not been.
 * @param {string} queue
 * @param {{wait?: boolean, timeout?: number, flags?: string[], signal?: AbortSignal}} [options]
 * @returns {Promise<Task | null>}
 */
export function claim(queue: string, { wait, timeout, flags, signal }?: {
    wait?: boolean | undefined;
    timeout?: number | undefined;
    flags?: string[] | undefined;
    signal?: AbortSignal | undefined;
} | undefined): Promise<Task | null>;
/** A command of DPL failed; status is its exit status. */
export class DplError extends Error {
    /** @param {number} status @param {string} message */
    constructor(status: number, message: string);
    status: number;
}
/**
 * 3: the operation is aborted or in cleanup: clean up and pop. operation is its id. cause has the
 * facts of what ended it: call, and where they are known evidence, status or signal, and reason. It
 * is null if no call did. The message says the same.
 */
export class Aborted extends DplError {
    /** @type {string | null} */
    operation: string | null;
    /**
     * @type {{call: string, evidence?: string, status?: number, signal?: string, reason?: string}
     *   | null}
     */
    cause: {
        call: string;
        evidence?: string;
        status?: number;
        signal?: string;
        reason?: string;
    } | null;
}
/** 4: the operation is over. */
export class Over extends DplError {
}
/** 5: the call was declared crashed; it can still be popped. */
export class DeclaredCrashed extends DplError {
}
/** 5: the claim of a task is over: stop working on it. */
export class Lost extends DeclaredCrashed {
}
/** 3: the queue is halted. */
export class Halted extends DplError {
}
/** 64: wrong arguments or ids. */
export class Usage extends DplError {
}
/** 65: a file of the ledger is not valid. */
export class Corrupt extends DplError {
}
/** 66: no such ledger, operation, call, group or service. */
export class NotFound extends DplError {
}
/** 69: the supervisor or the process is dead. */
export class Unavailable extends DplError {
}
/** 75: another process held the lock for too long; nothing has changed, try again. */
export class Busy extends DplError {
}
/** 76: refused by the protocol: the operation is not running, has had the call, and so on. */
export class Refused extends DplError {
}
/** 77: another user owns the ledger or may write to it. */
export class NotPermitted extends DplError {
}
/** 124: the state did not come, or the command did not end, in time. */
export class TimedOut extends DplError {
}
/** @type {Record<number, typeof DplError>} */
export const ERRORS: Record<number, typeof DplError>;
/** The command of a call failed, with its exit status, or 128 + N if signal N killed it. */
export class CommandFailed extends Error {
    /**
     * What it has written, if call.run was to return that.
     * @type {string | Buffer}
     */
    stdout: string | Buffer;
    /** @type {string | Buffer} */
    stderr: string | Buffer;
    /** @param {number} status @param {string} message */
    constructor(status: number, message: string);
    status: number;
}
/** An open call. */
export class Call {
    /**
     * @param {{operationId: string, runId?: string | null, callId: string, participantId: string,
     *   tmp: string | null, traceparent: string | null}} pushed
     */
    constructor(pushed: {
        operationId: string;
        runId?: string | null;
        callId: string;
        participantId: string;
        tmp: string | null;
        traceparent: string | null;
    });
    op: string;
    id: string;
    participant: string;
    /** Its directory, or null. */
    tmp: string | null;
    /**
     * The environment for children that make calls below it.
     * @type {Record<string, string | undefined>}
     */
    env: Record<string, string | undefined>;
    /**
     * Is aborted, with the error, when the call should clean up, or when it is over or declared
     * crashed.
     */
    signal: AbortSignal;
    /**
     * Send a heartbeat, with any flags of dpl-heartbeat, such as "--cleaning". Throws Aborted, Over
     * or DeclaredCrashed.
     * @param {string[]} flags
     */
    heartbeat(...flags: string[]): Promise<void>;
    /**
     * Run argv as a call below this one, with flags of dpl-run, such as "--timeout=10m", and options
     * of spawn. With {stdio: "pipe"} its standard input is options.input, or nothing, and this returns
     * what it writes to stdout, or with options.encoding "utf8" or "buffer" {stdout, stderr}, as text
     * or as bytes. Throws CommandFailed if the command fails, whatever its exit status, unless a flag such as "--ok=0,1" makes that success; Aborted if
     * something else failed the operation; Over, DeclaredCrashed or TimedOut if dpl-run stopped it;
     * DplError if it cannot be run, or if dpl-run itself fails.
     * @param {string[]} argv
     * @param {string[]} [flags]
     * @param {import("node:child_process").SpawnOptions &
     *   {input?: string | Uint8Array, encoding?: "utf8" | "buffer"}} [options]
     * @returns {Promise<any>}
     */
    run(argv: string[], flags?: string[] | undefined, { input, encoding, ...options }?: (import("node:child_process").SpawnOptions & {
        input?: string | Uint8Array | undefined;
        encoding?: "utf8" | "buffer" | undefined;
    }) | undefined): Promise<any>;
    /**
     * Pop the call, as failed if a failure is given. The end of the function does it. Throws Aborted
     * if it has popped a call that did not fail, and the operation has been aborted or has failed
     * elsewhere.
     * @param {string} [failure]
     */
    end(failure?: string | undefined): Promise<void>;
    #private;
}
/** A task that this process has claimed. It is settled once; work does it. */
export class Task {
    /**
     * @param {{queueId: string, taskId: string, epoch: number, attempt: number, spec: any}} claimed
     * @param {Record<string, string | undefined>} [env]
     */
    constructor(claimed: {
        queueId: string;
        taskId: string;
        epoch: number;
        attempt: number;
        spec: any;
    }, env?: Record<string, string | undefined> | undefined);
    queue: string;
    id: string;
    /** The number of the claim. */
    epoch: number;
    /** The number of claims of the task. */
    attempt: number;
    /** What was enqueued. */
    spec: any;
    settled: boolean;
    /**
     * The task is done. Throws Lost if the claim is over, Refused if it was settled otherwise.
     * @param {string[]} flags of dpl-settle, such as "--report=FILE"
     */
    done(...flags: string[]): Promise<void>;
    /** The attempt failed: it counts. @param {string} reason @param {string[]} flags */
    fail(reason?: string, ...flags: string[]): Promise<void>;
    /** Give the task back; the attempt does not count. */
    release(): Promise<void>;
    /** Give the task back for some time; the attempt does not count. @param {number} seconds */
    snooze(seconds: number): Promise<void>;
    /** The task waits for a person. @param {string} reason */
    block(reason: string): Promise<void>;
    /** Throw Lost if the claim is over: look right before an effect that must not happen twice. */
    check(): Promise<void>;
    /** Give the task back as if it had not been claimed: nothing of it was begun. */
    unclaim(): Promise<void>;
    /**
     * Do the task: settle it as done, or as failed if work throws. Returns what work returns.
     * @template T
     * @param {(task: Task) => T | Promise<T>} work
     * @returns {Promise<T>}
     */
    work<T>(work: (task: Task) => T | Promise<T>): Promise<T>;
    #private;
}
