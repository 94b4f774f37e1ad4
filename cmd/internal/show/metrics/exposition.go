package metrics

import (
	"strconv"
	"strings"
	"time"
)

// A kind is what a metric is: a value that goes up and down, one that only goes up, or a sum and
// the number of its parts.
type kind string

const (
	gauge   kind = "gauge"
	counter kind = "counter"
	summary kind = "summary"
)

// A family is a metric without its values.
type family struct {
	name string
	kind kind
	help string // a sentence
}

// A sample is one value of a metric.
type sample struct {
	suffix string   // of a summary: _sum or _count
	labels []string // names and values by turns
	value  float64
}

// one returns a sample.
func one(value float64, labels ...string) sample { return sample{labels: labels, value: value} }

// An exposition is metrics as text.
//
// Its format is that of Prometheus, version 0.0.4, which node_exporter reads. To it, the lines UNIT
// and EOF of OpenMetrics are comments. OpenMetrics wants the line TYPE of a counter without the
// _total that the sample has. Then node_exporter would not know the type, so this text has it.
type exposition struct{ out strings.Builder }

// write adds a metric. One without samples is left out.
func (x *exposition) write(f family, samples []sample) {
	if len(samples) == 0 {
		return
	}

	x.out.WriteString("# HELP " + f.name + " " + escapeHelp(f.help) + "\n")
	x.out.WriteString("# TYPE " + f.name + " " + string(f.kind) + "\n")
	for _, unit := range []string{"seconds", "bytes"} {
		if strings.HasSuffix(f.name, "_"+unit) {
			x.out.WriteString("# UNIT " + f.name + " " + unit + "\n")
		}
	}
	for _, s := range samples {
		x.out.WriteString(f.name + s.suffix)
		x.labels(s.labels)
		x.out.WriteString(" " + strconv.FormatFloat(s.value, 'f', -1, 64) + "\n")
	}
}

func (x *exposition) labels(labels []string) {
	if len(labels) == 0 {
		return
	}

	between := "{"
	for i := 0; i < len(labels); i += 2 {
		x.out.WriteString(between + labels[i] + `="` + escapeLabel(labels[i+1]) + `"`)
		between = ","
	}
	x.out.WriteString("}")
}

// end returns the text, which is complete: a reader can tell by its last line.
func (x *exposition) end() string { return x.out.String() + "# EOF\n" }

func escapeLabel(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(valid(text))
}

func escapeHelp(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(valid(text))
}

// valid returns text as UTF-8: one wrong byte would make a reader refuse the whole file.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// A metric is a family with what its values are for each T.
type metric[T any] struct {
	family
	of func(T) []sample // nothing: it has none
}

// writeAll writes all metrics of the values, each with the labels that say whose it is.
func writeAll[T any](x *exposition, metrics []metric[T], values []T, labels func(T) []string) {
	for _, m := range metrics {
		var samples []sample
		for _, v := range values {
			for _, s := range m.of(v) {
				s.labels = append(labels(v), s.labels...)
				samples = append(samples, s)
			}
		}
		x.write(m.family, samples)
	}
}

// value makes a metric with one value for each T.
func value[T any](of func(T) float64) func(T) []sample {
	return func(v T) []sample { return []sample{one(of(v))} }
}

// known makes a metric with one value for each T where it is known.
func known[T any](of func(T) (float64, bool)) func(T) []sample {
	return func(v T) []sample {
		if n, known := of(v); known {
			return []sample{one(n)}
		}
		return nil
	}
}

// flag makes a metric that is 1 or 0.
func flag[T any](of func(T) bool) func(T) []sample {
	return value(func(v T) float64 { return bit(of(v)) })
}

// states makes a metric that is 1 for the state of each T, and 0 for the others.
func states[T any, S ~string](of func(T) S, all ...S) func(T) []sample {
	return func(v T) (samples []sample) {
		for _, s := range all {
			samples = append(samples, one(bit(of(v) == s), "state", string(s)))
		}
		return samples
	}
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// seconds returns an age, which a clock that was set back may have made negative.
func seconds(age time.Duration) float64 { return float64(max(age, 0).Milliseconds()) / 1000 }

func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// timeOf returns t, which is known unless it is zero.
func timeOf(t time.Time) (float64, bool) { return timestamp(t), !t.IsZero() }

// A count counts words of a fixed list, so that also those that do not occur have a value: 0.
type count[S ~string] struct {
	words []S
	n     []int
}

func newCount[S ~string](words ...S) *count[S] { return &count[S]{words, make([]int, len(words))} }

func (c *count[S]) add(word S) {
	for i := range c.words {
		if c.words[i] == word {
			c.n[i]++
		}
	}
}

func (c *count[S]) samples(label string) (all []sample) {
	for i, word := range c.words {
		all = append(all, one(float64(c.n[i]), label, string(word)))
	}
	return all
}
