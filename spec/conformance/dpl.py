#!/usr/bin/env python3
"""The second implementation of DPL: one command for all verbs.

    dpl.py push|heartbeat|pop|abort|fail|cleanup|ack|status --ledger DIR --op OP [--call CALL] ...
    dpl.py register|beat --ledger DIR --group GROUP --supervisor S [--pid PID] ...

Exit status: that of the verb (0, 3, 4, 5), 64 usage, 65 corrupt, 66 no such operation, call, group
or service, 69 dead, 71 durability or outcome unknown, 74 input or output, 75 locked, 76 refused, 77
permission, 78 newer version.
"""
import argparse
import json
import os
import pathlib
import secrets
import sys

import groups
import ledger as files
import protocol
from document import (DEEPEST, DURATION, INTEGER, READINESS, Number, Refused, encode, parse,
                      read_time)

STATUS = protocol.STATUS | groups.STATUS


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f'dpl.py: {message}', file=sys.stderr)
        sys.exit(64)


def number(kind):
    def read(text):
        try:
            return kind[0](Number(text), '')
        except Refused as refused:
            raise argparse.ArgumentTypeError(str(refused)) from None
    return read


def default_ledger():
    state = os.environ.get('XDG_STATE_HOME') or pathlib.Path.home() / '.local/state'
    return os.environ.get('DPL_LEDGER') or pathlib.Path(state) / 'dpl'


def parser():
    top = Parser(prog='dpl.py')
    verbs = top.add_subparsers(dest='verb', required=True, parser_class=Parser)

    def verb(name, *options, subject='--op'):
        own = verbs.add_parser(name)
        own.add_argument('--ledger', default=default_ledger())
        own.add_argument(subject, dest='subject', required=True)
        own.add_argument('--now')
        own.add_argument('--wait', type=float, default=5, metavar='SECONDS')
        for option in options:
            option(own)

    def option(*names, **settings):
        return lambda own: own.add_argument(*names, **settings)
    call, supervisor = option('--call', required=True), option('--supervisor')
    readiness, note = option('--readiness', choices=READINESS), option('--note')
    pid, reason = option('--pid', type=int), option('--reason')
    by = option('--by', default='dpl.py')
    of_run, start = option('--run'), option('--start-id', dest='startId')
    status, killed = option('--status', type=number(INTEGER)), option('--signal')
    promise = option('--heartbeat', dest='heartbeats', action='store_true')
    verb('push', call, option('--caller'), option('--participant', required=True), supervisor, pid,
         of_run, start, option('--begin', action='store_true'), option('--handle'),
         option('--reuse', action='store_true'), option('--tmp', action='store_true'),
         option('--description', default=''), readiness,
         option('--resource', dest='resources', action='append', default=[]), promise,
         option('--no-fail-on-crash', dest='failOnCrash', action='store_false'),
         option('--orphan-policy', dest='orphanPolicy', choices=('crash', 'keep')),
         option('--staleness-threshold-ms', dest='stalenessThresholdMs',
                type=number(DURATION)),
         option('--heartbeat-interval-ms', dest='heartbeatIntervalMs', type=number(DURATION)))
    verb('heartbeat', option('--call'), option('--participant'), supervisor, pid, readiness, note,
         of_run, promise, option('--cleaning', action='store_true'))
    verb('pop', call, of_run, option('--fail', action='store_true'), reason, status, killed,
         option('--delete-resources', dest='deleteResources', action='store_true'),
         option('--keep-open', dest='keepOpen', action='store_true'))
    verb('abort', of_run, by, reason)
    verb('fail', call, of_run, by, reason, status, killed)
    verb('cleanup', by)
    verb('ack', option('--call', dest='calls', action='append', required=True),
         option('--supervisor', required=True), pid)
    verb('status')
    named = option('--supervisor', required=True)
    verb('register', named, pid, by, readiness, option('--request', action='store_true'),
         option('--fresh', action='store_true'),
         option('--start-info', dest='startInfo', type=start_info, metavar='JSON'),
         option('--restartable', type=yes_or_no),
         option('--heartbeat', dest='heartbeats', type=yes_or_no),
         option('--depends', dest='dependencies', action='append', metavar='SUPERVISOR'),
         option('--kill-timeout-ms', dest='killTimeoutMs',
                type=number(groups.NONNEGATIVE_MS)),
         subject='--group')
    verb('beat', named, pid, readiness, note, promise, subject='--group')
    return top


def yes_or_no(text):
    if text not in ('yes', 'no'):
        raise argparse.ArgumentTypeError('yes or no is needed')
    return text == 'yes'


def start_info(text):
    """Return a startInfo as in the file (§9.3)."""
    try:
        # Three objects contain it: registry, supervisors and entry.
        return groups.START_INFO[0](parse(text, DEEPEST - 3), '')
    except Refused as refused:
        raise argparse.ArgumentTypeError(str(refused)) from None


def run(verb, ledger, subject, now, wait, **arguments):
    for what in ('op', 'call', 'participant', 'supervisor', 'calls', 'dependencies', 'run',
                 'startId'):
        value = subject if what == 'op' else arguments.get(what)
        for text in value if isinstance(value, list) else [value] if value is not None else []:
            files.check_id(text, what)
    if verb == 'heartbeat' and not any(arguments[name]
                                       for name in ('call', 'participant', 'supervisor')):
        raise files.Failed(64, 'one of --call, --participant and --supervisor is needed')
    try:
        given_time = read_time(now) if now else None
    except Refused as refused:
        raise files.Failed(64, f'--now: {refused}') from None
    if arguments.get('pid') is not None:
        arguments['process'] = files.process_of(arguments['pid'])
    place = files.Ledger(ledger, create=verb in ('push', 'register'))
    if verb in groups.VERBS:
        return place.edit_group(subject, verb, lambda: files.observe(given_time), wait,
                                **arguments).status
    if verb == 'status':
        sys.stdout.write(encode(place.status(subject)))
        return 0
    if verb == 'push':
        arguments['traceparent'] = os.environ.get('TRACEPARENT')
        arguments['newRunId'] = secrets.token_hex(8)
    outcome = place.edit(subject, verb, lambda: files.observe(given_time), wait, **arguments)
    for frame in outcome.reported:
        print(json.dumps({'operationId': subject} | {name: frame.get(name) for name in (
            'callId', 'supervisorHandle', 'participantId', 'staleForMs', 'previousState')}))
    return outcome.status


def main(words=None):
    options = vars(parser().parse_args(words))
    call = options.get('call') or ' '.join(options.get('calls') or ())
    try:
        return run(**options)
    except Refused as refused:
        status, cause = STATUS[refused.word], refused
    except files.Failed as failed:
        status, cause = failed.status, failed
    except OSError as error:
        status, cause = files.status_of(error), error
    verb = options['verb'] + (f' {json.dumps(call)}' if call else '')
    print(f'dpl.py: {options["subject"]}: {verb}: {cause}', file=sys.stderr)
    return status


if __name__ == '__main__':
    sys.exit(main())
