"""Rules that decide before a person is asked (spec §48): values in, values out."""
import re
import unicodedata

from document import ABSENT, MOMENT, REQUIRED, TEXT, array, corrupt, one_of, parse, record, refuse_unknown

PLAIN = re.compile(r'[A-Za-z0-9_@%+:,./-]+')
# What may be in a command for a shell (§48.3): a redirection, an operator, or a word.
REDIRECTION = re.compile(r'(2>&1|>/dev/null|2>/dev/null)(?=[ ;|]|$)')
OPERATOR = re.compile(r'&&|\|\||;|\|')
QUOTED = r"""'[^'\x00-\x1f\x7f-\x9f\ufffd]*'|"[^"$`\\!\x00-\x1f\x7f-\x9f\ufffd]*\""""
PROGRAM = re.compile(rf'(?:[A-Za-z0-9_@%+:,./-]|{QUOTED})+')
WORD_OF_SHELL = re.compile(rf'(?!=)(?:[A-Za-z0-9_@%+:,./=-]|{QUOTED})+')
QUOTE = re.compile(r"""'([^']*)'|"([^"]*)\"""")
RUNNERS = set('sh bash dash ash zsh ksh mksh fish csh tcsh busybox env eval exec command builtin noglob '
              'nocorrect coproc trap alias source . sudo doas su runuser pkexec setpriv xargs parallel '
              'find ssh nohup timeout time nice ionice chrt taskset setsid flock stdbuf watch chroot '
              'script unshare nsenter strace ltrace systemd-run dpl dpl-run dpl-work dpl-serve'.split())
MOVERS = set('cd chdir pushd popd . source eval command builtin alias trap exec'.split())
OPERATORS = set('&& || | |& ; & < << > >> &> 2> 2>&1 >/dev/null 2>/dev/null &>/dev/null'.split())
RESERVED = set('if then else elif fi do done case esac while until for foreach select function repeat '
               '{ } ! [[ ( )'.split())
HOST = re.compile(r'[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]+)?')
URL = re.compile(r'https?://([A-Za-z0-9.-]+(?::[0-9]+)?)(?:[/?#][!-\[\]-~]*)?')
NAME = re.compile('[A-Za-z0-9_-]*')
# What no program reads as another path: a blank only between letters or digits.
UNREWRITTEN = re.compile(r'(?:[A-Za-z0-9_@+:,./=-]|(?<=[A-Za-z0-9]) (?=[A-Za-z0-9]))*')
RANKS = 'allow', 'ask', 'deny'


def read_word(value, path):
    if not TEXT[0](value, path):
        raise corrupt(path, 'empty')
    return value


WORD = (read_word, str)


def read_true(value, path):
    if value is not True:
        raise corrupt(path, 'not true')
    return value


def some(kind):
    def read(value, path):
        words = array(kind)[0](value, path)
        if not words:
            raise corrupt(path, 'empty')
        return words
    return read, list


RULE = record(decide=(one_of(*RANKS), REQUIRED), tool=(WORD, ABSENT), argv=(some(WORD), ABSENT),
              options=(some(WORD), ABSENT), paths=((read_true, bool), ABSENT), domains=(some(WORD), ABSENT),
              until=(MOMENT, ABSENT), reason=(TEXT, ''))
RULES = record(**{'$schema': (TEXT, ABSENT)}, rules=(array(RULE), REQUIRED))


def decode_rules(text):
    """Return the rules of a file (§48.1). Refused: corrupt."""
    value = parse(text)
    rules = RULES[0](value, '')['rules']
    refuse_unknown(RULES, value, '')
    for at, rule in enumerate(value['rules']):
        refuse_unknown(RULE, rule, f'/rules/{at}')
        if why := useless(rule):
            raise corrupt(f'/rules/{at}', why)
    return rules


def useless(rule):
    """Return why a rule can never match, or matches other things than it seems to (§48.1), or None."""
    allow, argv = rule['decide'] == 'allow', rule.get('argv')
    limits = {'options', 'paths', 'domains'} & set(rule)
    if 'tool' not in rule and (allow or argv is None) or {'*', '('} & set(rule.get('tool', '')):
        return 'tool'
    for at, word in enumerate(argv or ()):
        wild = word in ('*', '**') and (not allow or at == 0 or at < len(argv) - 1)
        blank = at == 0 and ' ' in word and not {'/', '\\'} & set(word)
        unshelled = word in OPERATORS or word[0] == '~' or at == 0 and (
            word[0] == '$' or '=' in word or word in RESERVED)
        if wild or word.endswith(':*') or '\0' in word or blank or allow and unshelled:
            return 'word'
    if not allow:
        return 'limits' if limits else None
    fixed, wildcard = fixed_of(rule) if argv else ([], '')
    if (argv is None and 'options' in rule or {'paths', 'domains'} <= limits or wildcard == '**' and limits
            or argv and 'domains' in rule and not wildcard):
        return 'limits'
    if argv and runs(fixed) and not exact(rule):
        return 'runs'
    if any(option[0] != '-' or option in ('-*', '--*') for option in rule.get('options', ())):
        return 'option'
    return None if all(map(HOST.fullmatch, rule.get('domains', ()))) else 'host'


def fixed_of(rule):
    """Return the words with which a command begins that a rule allows, and its wildcard or ''."""
    argv = rule['argv']
    return (argv[:-1], argv[-1]) if argv[-1] in ('*', '**') else (argv, '')


def exact(rule):
    return not fixed_of(rule)[1] and 'options' not in rule


def runs(words):
    name = base(words[0])
    return name in RUNNERS or name == 'git' and len(words) > 1 and words[1].startswith('-')


def decode_request(text):
    """Return {tool, argv, command, ...} of a request (§48.2), without what is absent. Refused: corrupt.

    Its other members are has_command, beside (whether there is anything beside the command that may
    change it), moved (whether its input has a directory), and strings and names: those of its input.
    """
    value = parse(text)
    if not isinstance(value, dict):
        raise corrupt('', 'not an object')
    found = [(name, value[name]) for name in ('tool', 'tool_name') if name in value]
    inputs = [value[name] for name in ('tool_input', 'input') if name in value]
    if len(inputs) > 1:
        raise corrupt('/input', 'said twice')
    outer = {name: inner for name, inner in value.items()
             if name not in ('tool', 'tool_name', 'tool_input', 'input')}
    sides = [outer, *(inner for inner in inputs if isinstance(inner, dict))]
    holder, request = None, {}
    for one in sides:
        for name in ('argv', 'command'):
            if name in one and (name == 'argv' or isinstance(one[name], str)):
                found.append((name, one[name]))
                holder = one

    for name, said in found:
        name = 'tool' if name == 'tool_name' else name
        if name in request or {name, *request} >= {'argv', 'command'}:
            raise corrupt(f'/{name}', 'said twice')
        kind = array(TEXT) if name == 'argv' else WORD
        request[name] = kind[0](said, f'/{name}')

    request['has_command'] = any(name in one for one in sides for name in ('argv', 'command'))
    beside = set(holder or ()) - {'argv', 'command', 'description', 'timeout'}
    if holder and isinstance(holder.get('cwd'), str):
        beside -= {'cwd'}
    if {'argv', 'command'} <= set(holder or ()) or holder is outer and inputs:
        beside.add('command')
    request['beside'] = bool(beside)
    request['moved'] = any(isinstance(one.get('cwd'), str) and one['cwd'] != '' for one in sides[1:])
    request['strings'], request['names'] = texts(inputs[0] if inputs else outer)
    return request


def texts(value):
    """Return the strings in a JSON value, and the names of members in it."""
    if isinstance(value, str):
        return [value], []
    names = list(value) if isinstance(value, dict) else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    pairs = list(map(texts, inner))
    return sum((pair[0] for pair in pairs), []), names + sum((pair[1] for pair in pairs), [])


def decide(request, files, now, inside):
    """Return {decide, file, number} of the rule that decides, or {decide: ask} (§48.3).

    inside is the paths that lie in the directory (§48.3).
    """
    parts = parts_of(request)
    every = [(rule, {'decide': rule['decide'], 'file': at, 'number': number})
             for at, rules in enumerate(files) for number, rule in enumerate(rules, 1)
             if applies(rule, request, now)]
    said = [{**place, 'decide': says} for rule, place in every if (says := stops(rule, request, parts))]
    if said:
        return max(said, key=lambda one: RANKS.index(one['decide']))

    every = [(rule, place) for rule, place in every if rule['decide'] == 'allow']
    if not request['has_command']:
        return next((place for rule, place in every if allows_tool(rule, request, inside)), {'decide': 'ask'})
    around = surroundings(every, request, parts, inside)
    allowed = [next((place for rule, place in every if allows(rule, request, words, *around[at], inside)), None)
               for at, (words, _) in enumerate(parts)]
    return allowed[0] if allowed and all(allowed) else {'decide': 'ask'}


def applies(rule, request, now):
    return rule.get('tool', request.get('tool')) == request.get('tool') and now < rule.get('until', now + 1)


def stops(rule, request, parts):
    """Return what a rule that denies or asks says, or None."""
    if rule['decide'] == 'allow' or 'argv' not in rule:
        return None if rule['decide'] == 'allow' else rule['decide']
    argv, commands = rule['argv'], [words for words, _ in parts]
    if any(begins(words, argv) for words in commands):
        return rule['decide']
    sources = [request['command']] if 'command' in request else request.get('argv', [])
    sequences = [request.get('argv', []), *commands, *map(PLAIN.findall, sources)]
    occurs = any(begins(words[at:], argv) for words in sequences for at in range(len(words)))
    return 'ask' if occurs else None


def allows_tool(rule, request, inside):
    if 'argv' in rule or 'paths' in rule and ('' not in inside or request['moved']):
        return False
    if 'paths' in rule:
        return all(lies(text, inside) for text in request['strings'] + request['names'])
    names = [name for name in request['names'] if not NAME.fullmatch(name)]
    return 'domains' not in rule or all(leads(text, rule) or is_prose(text) for text in request['strings'] + names)


def allows(rule, request, words, moved, loose, inside):
    """Whether a rule allows words, a part of the command of a request."""
    if 'argv' not in rule or request['beside']:
        return False
    fixed, wildcard = fixed_of(rule)
    paths = 'paths' in rule
    if (words[:len(fixed)] != fixed or runs(words) and not exact(rule)
            or paths and (moved or request['moved'] or '' not in inside)):
        return False

    def good(word):
        return not (paths and (loose or not lies(word, inside))) and ('domains' not in rule or leads(word, rule))

    def option(word):
        return any(word == one or one[-1] == '=' and word.startswith(one) and good(word[len(one):])
                   or one[-1] == '#' and re.fullmatch(re.escape(one[:-1]) + '[0-9]+', word)
                   for one in rule.get('options', ()))

    return wildcard == '**' or all(option(word) if word.startswith('-') else wildcard == '*' and good(word)
                                   for word in words[len(fixed):])


def surroundings(every, request, parts, inside):
    """Return (moved, loose) of each part: what the others may change."""
    around, moved = [], False
    pipes = [sum(not piped for _, piped in parts[:at + 1]) for at in range(len(parts))]
    held = []
    for words, _ in parts:
        held.append(any('paths' in rule and allows(rule, request, words, moved, False, inside)
                        for rule, _ in every))
        around.append(moved)
        moved = moved or words[0] in MOVERS
    return [(moved, any(not held[other] for other in range(len(parts))
                        if other != at and (other < at or pipes[other] == pipes[at])))
            for at, moved in enumerate(around)]


def lies(word, inside):
    """Whether each path that a program may see in word lies in the directory."""
    if not UNREWRITTEN.fullmatch(word):
        return False
    starts = [0, *(match.end() for match in re.finditer('[=:,@ ]', word))]
    return all(word[at:] in inside and re.match('[^=:,@ ]*', word[at:]).group() in inside for at in starts)


def is_prose(text):
    """Whether text begins with a word and a space, and names no URL."""
    word, space, _ = text.partition(' ')
    return bool(space and word) and not re.search(r':(?! |\Z)', text) and all(
        unicodedata.category(char)[0] in 'LMN' for char in word)


def leads(text, rule):
    match = URL.fullmatch(text)
    if not match:
        return False
    name, colon, port = match.group(1).lower().partition(':')
    return name.removesuffix('.') + colon + port in rule['domains']


def parts_of(request):
    """Return (words, piped) of each command in a request, or [] if it is not understood."""
    if 'argv' in request:
        return [(request['argv'], False)] if request['argv'] else []
    rest, parts, words, piped = request.get('command', ''), [], [], False
    while True:
        rest = rest.lstrip(' ')
        operator = OPERATOR.match(rest)
        if words and (match := REDIRECTION.match(rest)):
            rest = rest[match.end():]
        elif operator or not rest:
            if not words:
                return []
            parts.append((words, piped))
            if not rest:
                return parts
            words, piped, rest = [], operator.group() == '|', rest[operator.end():]
        else:
            match = (WORD_OF_SHELL if words else PROGRAM).match(rest)
            if not match or rest[match.end():][:1] not in ('', ' ', ';', '|', '&'):
                return []
            words.append(QUOTE.sub(lambda found: found.group(1) or found.group(2) or '', match.group()))
            rest = rest[match.end():]


def base(word):
    return word.rpartition('/')[2]


def begins(words, argv):
    """Whether words begin with argv, also with a directory before the first one."""
    head = words[:len(argv)]
    return argv in (head, [*map(base, head[:1]), *head[1:]])
