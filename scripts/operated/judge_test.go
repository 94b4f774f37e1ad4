//go:build linux

package operated

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A look has the answers of DPL about the group, and a snapshot of the truth before and after them.
type look struct {
	before, after snapshot
	asked         []string          // the services that were asked about in detail
	said          map[string]answer // by the names in look.sh
}

type answer struct {
	text   string
	status string
}

// These are the things that are compared.
const (
	aliveRule   = "alive"
	stoppedRule = "stopped"
	runningRule = "--check running"
	readyRule   = "--check ready"
	healthyRule = "--check healthy"
	whyRule     = "--why"
	pageRule    = "page"
	metricsRule = "metrics"
)

var rules = []string{aliveRule, stoppedRule, runningRule, readyRule, healthyRule, whyRule,
	pageRule, metricsRule}

// A verdict is one comparison of a look.
type verdict struct {
	rule, service, start string
	right                bool
	unseen               bool   // its process has ended, and no pass has noticed
	detail               string // of one that is not right
}

// shown is what dpl-status --json says of a service.
type shown struct {
	SupervisorID, State, Verdict string
	PID                          int
	InTrouble                    bool
	MaintenanceMs                *int64
}

// words are what must be the same in all views.
func (s shown) words() string {
	return fmt.Sprint(s.State, s.Verdict, s.PID, s.InTrouble, s.MaintenanceMs != nil)
}

func (a answer) services() map[string]shown {
	var document struct{ Supervisors []shown }
	if json.Unmarshal([]byte(a.text), &document) != nil {
		return nil
	}
	all := make(map[string]shown)
	for _, s := range document.Supervisors {
		all[s.SupervisorID] = s
	}
	return all
}

// grace is for how long a service of the container before may be taken for alive: it is judged by
// its heartbeats, and an observer that has not looked grants it a fresh window.
const grace = 3 * staleness

// judge compares the answers of DPL with the truth about each service, if that was the same before
// and after.
func (l look) judge() (all []verdict) {
	if l.before.box.first != l.after.box.first {
		return nil
	}

	first, again := l.said["json"].services(), l.said["again"].services()
	for _, service := range services {
		e, registered := l.before.entries[service]
		is := l.before.of(service)
		if !registered || is != l.after.of(service) || is.beginning ||
			is.elsewhere && time.Since(l.before.box.booted) < grace {
			continue
		}

		s := first[service]
		say := func(rule string, right bool, format string, arguments ...any) {
			v := verdict{rule: rule, service: service, start: e.StartID, right: right,
				unseen: e.State == "running" && !is.lives}
			if !right {
				v.detail = fmt.Sprintf("its start %s with pid %d lives: %t; registry %s; ", e.StartID,
					e.PID, is.lives, is.entry) + fmt.Sprintf(format, arguments...)
			}
			all = append(all, v)
		}

		running := e.State == "running"
		seen := s.Verdict == "alive" || s.Verdict == "stopped"
		say(aliveRule, seen == is.lives || is.lives && !running, "--json: %+v", s)
		if is.lives && running {
			say(stoppedRule, is.stopped == (s.Verdict == "stopped"), "--json: %+v", s)
		}

		if slices.Contains(l.asked, service) {
			a := l.said["running "+service]
			say(runningRule, (a.status == "0") == (running && is.lives), "%+v", a)
			a = l.said["ready "+service]
			say(readyRule, (a.status == "0") == l.ready(service, is), "%+v", a)
			a = l.said["why "+service]
			lacks := l.lacks(service, is, a.text)
			say(whyRule, lacks == "", "it lacks %q: %s", lacks, a.text)
		}

		if s.words() == again[service].words() {
			wrong := pageLacks(l.said["page"].text, s)
			say(pageRule, wrong == "", "the page lacks %q: %+v", wrong, s)
			wrong = metricsLack(l.said["metrics"].text, s)
			say(metricsRule, wrong == "", "the metrics lack %q: %+v", wrong, s)
		}
	}

	if healthy, why, known := l.healthy(); known {
		a := l.said["healthy"]
		all = append(all, verdict{rule: healthyRule, right: (a.status == "0") == healthy,
			unseen: !healthy, detail: fmt.Sprintf("want healthy %t (%s), got %+v", healthy, why, a)})
	}
	return all
}

// ready reports whether a service is ready. One with a check is when a pass has seen it succeed.
func (l look) ready(service string, is fact) bool {
	e := l.before.entries[service]
	if e.State == "completed" {
		return true
	}
	checked := service != "web" || e.Health != nil && e.Health.Passed && l.before.healthy
	return e.State == "running" && is.lives && checked
}

// lacks returns what must be in the text of --why and is not there, or "".
func (l look) lacks(service string, is fact, text string) string {
	e := l.before.entries[service]
	verb := "is"
	if e.State == "completed" || e.State == "failed" {
		verb = "has"
	}
	want := []string{fmt.Sprintf("%s: service %s %s %s.", group, service, verb, e.State)}
	if e.State == "running" && is.lives {
		want = append(want, fmt.Sprintf("Its process, %d, exists", e.PID))
	}
	if e.State == "running" && is.stopped {
		want = append(want, "A signal has stopped its process")
	}
	if e.State == "running" && !is.lives {
		want = append(want, "There is evidence that it is dead")
	}
	if e.Maintenance != nil {
		want = append(want, "It is in maintenance")
	}
	return lacking(text, want)
}

func lacking(text string, want []string) string {
	for _, w := range want {
		if !strings.Contains(text, w) {
			return w
		}
	}
	return ""
}

var pills = regexp.MustCompile(`<b class="id">(\w+)</b>((?:<span class="pill \w*">[\w ]+</span>)*)` +
	`(?:<span class="fact"><i>pid</i> (\d+)</span>)?`)

// pageLacks returns what the page must show of a service and does not, or "".
func pageLacks(page string, s shown) string {
	want := ">" + s.State + "<"
	if s.Verdict == "stopped" {
		want += " >paused by a signal<"
	} else if s.Verdict != "alive" && s.Verdict != "-" {
		want += " >" + s.Verdict + "<"
	}
	if s.PID != 0 {
		want += fmt.Sprintf(" %d", s.PID)
	}
	for _, found := range pills.FindAllStringSubmatch(page, -1) {
		if found[1] != s.SupervisorID {
			continue
		}
		got := strings.Join(regexp.MustCompile(`>[\w ]+<`).FindAllString(found[2], -1), " ")
		if found[3] != "" {
			got += " " + found[3]
		}
		if got == want {
			return ""
		}
		return want + ", it has " + got
	}
	return s.SupervisorID
}

// metricsLack returns what the metrics must say of a service and do not, or "".
func metricsLack(text string, s shown) string {
	number := map[bool]int{true: 1}
	up := s.State == "running" && (s.Verdict == "alive" || s.Verdict == "stopped")
	labels := fmt.Sprintf(`{group="%s",service="%s"`, group, s.SupervisorID)
	want := []string{
		fmt.Sprintf("\ndpl_service_up%s} %d\n", labels, number[up]),
		fmt.Sprintf("\ndpl_service_in_trouble%s} %d\n", labels, number[s.InTrouble]),
		fmt.Sprintf("\ndpl_service_state%s,state=\"%s\"} 1\n", labels, s.State),
	}
	maintenance := "\ndpl_service_maintenance_seconds" + labels
	if s.MaintenanceMs != nil {
		want = append(want, maintenance)
	} else if strings.Contains(text, maintenance) {
		return "no maintenance"
	}
	return lacking(text, want)
}

// healthy returns whether the group is healthy, why not, and whether the look knows that.
func (l look) healthy() (is bool, why string, known bool) {
	b := l.before
	if b.revision != l.after.revision || b.behind || l.after.behind {
		return false, "", false
	}
	for _, service := range services {
		f, e := b.of(service), b.entries[service]
		if f != l.after.of(service) || f.beginning || f.stopped ||
			f.elsewhere && !f.lives && e.State == "running" {
			return false, "", false
		}
		switch {
		case e.Maintenance != nil && e.Maintenance.Until.After(b.at):
		case slices.Contains([]string{"failed", "restartScheduled", "dead"}, e.State),
			e.State == "running" && !f.lives,
			e.State != "running" && e.BlockedBy != "" && !strings.HasSuffix(e.BlockedBy, ": maintenance"):
			if service == "migrate" && e.State == "running" {
				return false, "", false // it may have done its work
			}
			why += service + " is " + e.State + "; "
		}
	}

	age, limit := b.at.Sub(b.heartbeat), max(2*b.period, staleness)
	if age < limit+time.Second && age > limit-time.Second || age < 0 {
		return false, "", false
	}
	if age > limit {
		why += "the last pass was " + age.String() + " ago"
	}
	return why == "", why, true
}

// A record is what the looks have found so far.
type record struct {
	looks  int
	right  map[string]int // by rule
	unseen map[string]int // those of services that had ended, and no pass had noticed
	once   map[string]int // differences that were no longer there in the next look
	wrong  map[string]verdict
	well   time.Time // the last look that found the group healthy
}

// take takes the verdicts of a look, and returns the differences that last longer than one look.
func (r *record) take(all []verdict) (lasting []verdict) {
	if r.wrong == nil {
		r.right, r.unseen, r.once = make(map[string]int), make(map[string]int), make(map[string]int)
		r.wrong = make(map[string]verdict)
	}

	r.looks++
	for _, v := range all {
		key := v.rule + " " + v.service
		before, was := r.wrong[key]
		switch {
		case v.right:
			r.right[v.rule]++
			if v.unseen {
				r.unseen[v.rule]++
			}
			delete(r.wrong, key)
		case was && before.start == v.start:
			lasting = append(lasting, v)
		default:
			r.once[v.rule]++
			r.wrong[key] = v
		}
	}
	return lasting
}
