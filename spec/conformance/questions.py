"""Rules that decide before a person is asked (spec §48): values in, values out."""
import re

from document import ABSENT, MOMENT, REQUIRED, TEXT, array, corrupt, one_of, parse, record, refuse_unknown

PLAIN = re.compile(r'[A-Za-z0-9_@%+:,./-]+')
SIMPLE = re.compile(r'[A-Za-z0-9_@%+:,./ -]*')  # a command that no shell changes
SHELLS = set('sh bash dash ash zsh ksh mksh fish csh tcsh busybox env eval exec command builtin source '
             '. sudo doas su xargs ssh nohup timeout nice setsid stdbuf chroot script unshare nsenter '
             'strace'.split())
RANKS = 'allow', 'ask', 'deny'


def read_word(value, path):
    if not TEXT[0](value, path):
        raise corrupt(path, 'empty')
    return value


WORD = (read_word, str)
RULE = record(decide=(one_of(*RANKS), REQUIRED), tool=(WORD, ABSENT), argv=(array(WORD), ABSENT),
              until=(MOMENT, ABSENT), reason=(TEXT, ''))
RULES = record(**{'$schema': (TEXT, ABSENT)}, rules=(array(RULE), REQUIRED))


def decode_rules(text):
    """Return the rules of a file (§48.1). Refused: corrupt."""
    value = parse(text)
    rules = RULES[0](value, '')['rules']
    refuse_unknown(RULES, value, '')
    for at, rule in enumerate(value['rules']):
        refuse_unknown(RULE, rule, f'/rules/{at}')
        if not {'tool', 'argv'} & set(rule) or rule.get('argv') == []:
            raise corrupt(f'/rules/{at}', 'it would fit everything')
    return rules


def decode_request(text):
    """Return {tool, argv, command} of a request (§48.2), without what is absent. Refused: corrupt."""
    value = parse(text)
    if not isinstance(value, dict):
        raise corrupt('', 'not an object')
    found = [(name, value[name]) for name in ('tool', 'tool_name') if name in value]
    inner = [value[name] for name in ('tool_input', 'input') if isinstance(value.get(name), dict)]
    for one in (value, *inner):
        found += [('argv', one['argv'])] if 'argv' in one else []
        found += [('command', one['command'])] if isinstance(one.get('command'), str) else []

    request = {}
    for name, said in found:
        name = 'tool' if name == 'tool_name' else name
        if name in request or {name, *request} >= {'argv', 'command'}:
            raise corrupt(f'/{name}', 'said twice')
        kind = array(TEXT) if name == 'argv' else WORD
        request[name] = kind[0](said, f'/{name}')
    return request


def decide(request, files, now):
    """Return {decide, file, number} of the rule that decides, or {decide: ask} (§48.3)."""
    said = [{'decide': says, 'file': at, 'number': number}
            for at, rules in enumerate(files) for number, rule in enumerate(rules, 1)
            if (says := rule_says(rule, request, now))]
    return max(said, key=lambda one: RANKS.index(one['decide']), default={'decide': 'ask'})


def rule_says(rule, request, now):
    """Return what a rule says to a request, or None."""
    if rule.get('tool', request.get('tool')) != request.get('tool') or now >= rule.get('until', now + 1):
        return None
    if 'argv' not in rule:
        return rule['decide']
    argv, words = rule['argv'], words_of(request)
    if rule['decide'] == 'allow':
        whole = bool(words) and base(words[0]) in SHELLS
        fits = words == argv if whole else words is not None and words[:len(argv)] == argv
        return 'allow' if fits else None
    if words and begins(words, argv):
        return rule['decide']
    texts = [request['command']] if 'command' in request else request.get('argv', [])
    sequences = [request.get('argv', []), *map(PLAIN.findall, texts)]
    occurs = any(begins(words[at:], argv) for words in sequences for at in range(len(words)))
    return 'ask' if occurs else None


def words_of(request):
    if 'argv' in request:
        return request['argv']
    command = request.get('command', '')
    return [word for word in command.split(' ') if word] if SIMPLE.fullmatch(command) else None


def base(word):
    return word.rpartition('/')[2]


def begins(words, argv):
    """Whether words begin with argv, also with a directory before the first one."""
    head = words[:len(argv)]
    return argv in (head, [*map(base, head[:1]), *head[1:]])
