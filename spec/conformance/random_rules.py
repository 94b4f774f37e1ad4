#!/usr/bin/env python3
"""Write N random vectors of rules (spec §50) into DIR/questions: random_rules.py N DIR [SEED].

Each has the verdict of questions.py. The same arguments give the same files. It prints how often what
was decided. Let the runner of another implementation judge the vectors.
"""
import collections
import copy
import pathlib
import random
import sys

import run
from document import parse, write
from random_vectors import STRANGE, places_in

WORDS = ('git', 'rm', '-rf', 'sh', '/bin/rm', './git', 'sudo', 'x', '', 'a b', 'rm;x', 'git é', '$x', 'a/rm')
TOOLS = ('Bash', 'Read', 'bash')
TIMES = ('2026-01-20T10:30:00Z', '2026-01-20T10:30:00.001Z', '2027-01-01T00:00:00+01:00',
         '1999-01-01T00:00:00Z')
JOINTS = (' ', ' ', ' ', '  ', ';', ' && ', '|', '\n', "'", '$(', '/', '=', '')


def rule(dice):
    made = {'decide': dice.choice(('allow', 'allow', 'deny', 'ask'))}
    subjects = dice.choice((('tool', ), ('argv', ), ('argv', ), ('argv', ), ('tool', 'argv')))
    if 'tool' in subjects:
        made['tool'] = dice.choice(TOOLS)
    if 'argv' in subjects:
        made['argv'] = [dice.choice(WORDS[:8]) for _ in range(dice.choice((1, 1, 1, 2, 3)))]
    if dice.random() < 0.2:
        made['until'] = dice.choice(TIMES)
    return made | ({'reason': 'x'} if dice.random() < 0.2 else {})


def request(dice, rules):
    argv = [dice.choice(WORDS) for _ in range(dice.randrange(4))]
    if rules and dice.random() < 0.6:
        at = dice.randrange(len(argv) + 1) if dice.random() < 0.4 else 0
        argv[at:at] = dice.choice(rules).get('argv', [])
    command = {'argv': argv}
    if dice.random() < 0.5:
        command = {'command': ''.join(word + dice.choice(JOINTS) for word in argv) or 'x'}
    if dice.random() < 0.5:
        command = {dice.choice(('input', 'tool_input')): command}
    tool = {dice.choice(('tool', 'tool_name')): dice.choice(TOOLS)} if dice.random() < 0.7 else {}
    return tool | command | ({'argv': ['x']} if dice.random() < 0.03 else {})


def spoilt(dice, value):
    if dice.random() > 0.05:
        return value
    value = copy.deepcopy(value)
    inner, name = dice.choice(list(places_in(value)) or [(value, 'x')])
    inner[name] = copy.deepcopy(dice.choice(STRANGE))
    return value


def main(words):
    count, directory = int(words[0]), pathlib.Path(words[1]) / 'questions'
    dice = random.Random(int(words[2]) if len(words) > 2 else 0)
    directory.mkdir(parents=True, exist_ok=True)
    counts = collections.Counter()
    for number in range(count):
        files = [[rule(dice) for _ in range(dice.randrange(5))] for _ in range(dice.randrange(3))]
        vector = {'comment': 'Random rules.', 'section': '48',
                  'rules': [spoilt(dice, {'rules': file}) for file in files],
                  'input': spoilt(dice, request(dice, sum(files, []))), 'now': TIMES[0]}
        vector |= run.rules_reality(parse(write(vector)))
        (directory / f'random-{number:06}.json').write_text(write(vector) + '\n')
        counts[vector.get('refused') or vector['verdict']['decide'] + (
            ' by a rule' if 'file' in vector['verdict'] else '')] += 1
    for what, many in sorted(counts.items()):
        print(f'{many:7} {what}')


if __name__ == '__main__':
    main(sys.argv[1:])
