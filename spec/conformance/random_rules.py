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

import questions
import run
from document import parse, write
from random_vectors import STRANGE, places_in

WORDS = ('git', 'rm', '-rf', 'sh', '/bin/rm', './git', 'sudo', 'x', '', 'a b', 'rm;x', 'git é', '$x', 'a/rm',
         '-n5', '--x=y', 'a=b:c', 'https://go.dev/', 'https://a@go.dev', '~', 'cd', '-', 'x: y', 'x y:',
         'x https:y', 'x[y]', 'x y b:c')
IN_RULES = WORDS[:8] * 2 + ('cd', 'wc', 'wc', 'git status', '*', '~/x', 'x:*', '&&', 'if', 'a=b')
OPTIONS = '-rf', '-n#', '--x=', '-n5', '-', 'x', '-*'
MORE = 'x', 'x', 'y', 'a=b:c', '-rf', '-n5', '--x=y', 'https://go.dev/'
TOOLS = ('Bash', 'Bash', 'Read')
TIMES = ('2026-01-20T10:30:00Z', '2026-01-20T10:30:00.001Z', '2027-01-01T00:00:00+01:00',
         '1999-01-01T00:00:00Z')
JOINTS = (' ', ' ', ' ', '  ', ';', ' && ', '|', ' || ', '\n', "'", '"', '$(', '/', '=', '', ' 2>&1 ',
          ' >/dev/null;', ' & ')
SEEN = '', 'git', 'x', 'a b', 'y', 'a=b:c', 'b:c', 'a', 'b', 'c', 'rm', 'input', 'path', 'x y b:c', 'y b:c'


def rule(dice):
    made = {'decide': dice.choice(('allow', 'allow', 'allow', 'deny', 'ask'))}
    allow = made['decide'] == 'allow'
    subjects = dice.choice((('tool', ), ('argv', ), ('argv', ), ('argv', ), ('tool', 'argv')))
    if 'tool' in subjects or allow and dice.random() < 0.97:
        made['tool'] = dice.choice(TOOLS)
    if 'argv' in subjects:
        words = WORDS[:8] if dice.random() < 0.8 else IN_RULES
        made['argv'] = [dice.choice(words) for _ in range(dice.choice((1, 1, 1, 2, 3)))]
        if allow and dice.random() < 0.6:
            made['argv'].append(dice.choice(('*', '*', '**')))
    if allow and dice.random() < 0.3:
        made['options'] = [dice.choice(OPTIONS[:5] if dice.random() < 0.9 else OPTIONS)
                           for _ in range(dice.choice((1, 2)))]
    if allow and dice.random() < 0.3:
        made['paths'] = dice.random() < 0.97
    elif allow and dice.random() < 0.1:
        made['domains'] = [dice.choice(('go.dev', 'go.dev:80', 'x', 'Go.dev'))]
    if dice.random() < 0.2:
        made['until'] = dice.choice(TIMES)
    return made | ({'reason': 'x'} if dice.random() < 0.2 else {})


def quoted(dice, word):
    return word if dice.random() < 0.7 else dice.choice(("'{}'", '"{}"', "{}''", '=-{}')).format(word)


def likely(dice, rules):
    """Return a request that rules probably allow."""
    parts = []
    for _ in range(dice.choice((1, 1, 2, 3))):
        more = [dice.choice(MORE) for _ in range(dice.choice((0, 0, 1, 2)))]
        parts.append([word for word in dice.choice(rules)['argv'] if word[0] != '*'] + more)
    joined = ' '.join(' '.join(quoted(dice, word) if ' ' not in word else f"'{word}'" for word in words)
                      + dice.choice((' &&', ' |', ';', ' 2>&1 ||')) for words in parts)
    command = {'argv': parts[0]} if dice.random() < 0.2 else {'command': joined.rstrip('&|;')}
    return {'tool': rules[0]['tool'], dice.choice(('input', 'tool_input')): command}


def request(dice, rules):
    allow = [made for made in rules if made['decide'] == 'allow' and {'argv', 'tool'} <= set(made)]
    if allow and dice.random() < 0.6:
        return likely(dice, allow)
    argv = [dice.choice(WORDS) for _ in range(dice.choice((0, 0, 1, 1, 2, 3)))]
    for _ in range(dice.choice((0, 1, 1, 2))):
        at = dice.randrange(len(argv) + 1) if dice.random() < 0.4 else 0
        argv[at:at] = [word for word in dice.choice(rules or [{}]).get('argv', []) if word[0] != '*']
    command = {'argv': argv}
    if dice.random() < 0.1:
        command = {'path': dice.choice(WORDS), dice.choice(SEEN): [dice.choice(WORDS)]}
    elif dice.random() < 0.6:
        command = {'command': ''.join(quoted(dice, word) + dice.choice(JOINTS) for word in argv).strip() or 'x'}
    if dice.random() < 0.1:
        command |= {dice.choice(('description', 'timeout', 'cwd', 'command', 'z')): dice.choice(('x', None))}
    if dice.random() < 0.5:
        command = {dice.choice(('input', 'tool_input')): command}
    tool = {dice.choice(('tool', 'tool_name')): dice.choice(TOOLS)} if dice.random() < 0.9 else {}
    return tool | command | ({'argv': ['x']} if dice.random() < 0.03 else {})


def spoilt(dice, value):
    if dice.random() > 0.02:
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
        if dice.random() < 0.7:  # most files with a rule that is refused say nothing about requests
            files = [[one for one in file if not questions.useless(one)] for file in files]
        vector = {'comment': 'Random rules.', 'section': '48',
                  'rules': [spoilt(dice, {'rules': file}) for file in files],
                  'input': spoilt(dice, request(dice, sum(files, []))), 'now': TIMES[0],
                  'inside': [path for path in SEEN if dice.random() < 0.8]}
        vector |= run.rules_reality(parse(write(vector)))
        (directory / f'random-{number:06}.json').write_text(write(vector) + '\n')
        counts[vector.get('refused') or vector['verdict']['decide'] + (
            ' by a rule' if 'file' in vector['verdict'] else '')] += 1
    for what, many in sorted(counts.items()):
        print(f'{many:7} {what}')


if __name__ == '__main__':
    main(sys.argv[1:])
