package question

// A Verdict is what rules say to a request, and which rule does: its place among the files, and its
// place in that one, both from 0. With Ask and a File of -1, no rule matches.
type Verdict struct {
	Decision Decision
	File     int
	Rule     int
}

// Decide returns what the rules of all files say to q (spec §48.3). A rule that denies goes before
// one that asks, and that before one that allows, whatever their order. If none matches, a person
// is asked.
func Decide(q Request, files []Rules, seen Evidence) Verdict {
	c := q.command()
	if v := stopped(&q, c, files, seen); v.File >= 0 {
		return v
	}
	if !q.Command {
		return find(files, func(rule *Rule) bool { return rule.allowsTool(&q, seen) == miss{} })
	}

	all := q.around(c.parts, files, seen)
	verdict := asked
	for i, p := range c.parts {
		v := find(files, func(rule *Rule) bool {
			return rule.allows(&q, p.words, all[i], seen) == miss{}
		})
		if v.File < 0 {
			return asked
		}
		if i == 0 {
			verdict = v
		}
	}
	return verdict
}

var asked = Verdict{Decision: Ask, File: -1}

// stopped returns the verdict of the rules that deny or ask.
func stopped(q *Request, c command, files []Rules, seen Evidence) Verdict {
	verdict := asked
	for i, rules := range files {
		for j := range rules {
			rule := &rules[j]
			if rule.Decide == Allow {
				continue
			}
			switch d, m := rule.stops(q, c, seen.Now); {
			case m != miss{}:
			case d == Deny:
				return Verdict{d, i, j}
			case verdict.File < 0:
				verdict = Verdict{d, i, j}
			}
		}
	}
	return verdict
}

// find returns the verdict of the first rule that allows and matches.
func find(files []Rules, matches func(*Rule) bool) Verdict {
	for i, rules := range files {
		for j := range rules {
			if rules[j].Decide == Allow && matches(&rules[j]) {
				return Verdict{Allow, i, j}
			}
		}
	}
	return asked
}

// around returns for each of parts what the others may change. A command that matches a rule with
// paths is taken for one that makes no links which lead out of the directory.
func (q *Request) around(parts []part, files []Rules, seen Evidence) []others {
	all := make([]others, len(parts))
	if len(parts) == 1 {
		return all
	}

	held, moved := make([]bool, len(parts)), false
	for i, p := range parts {
		all[i].moved = moved
		held[i] = find(files, func(rule *Rule) bool {
			return rule.Paths && rule.allows(q, p.words, others{moved: moved}, seen) == miss{}
		}).File >= 0
		moved = moved || moves(p.words[0])
	}

	loose := false // before the pipeline
	for i := 0; i < len(parts); {
		end, free := i, 0
		for ; end == i || end < len(parts) && parts[end].piped; end++ {
			if !held[end] {
				free++
			}
		}
		for ; i < end; i++ {
			all[i].loose = loose || free > 1 || free == 1 && held[i]
		}
		loose = loose || free > 0
	}
	return all
}
