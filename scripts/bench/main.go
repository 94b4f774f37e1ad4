//go:build linux

// Bench times the commands as whole processes, against a null Go process, against the same system
// calls in C and against common alternatives, all in one run, and compares them with the goals of
// goals.go. Only ratios mean something: absolute times drift with the machine.
//
//	go run ./scripts/bench [-rounds N] [-dir DIR] [-only REGEXP] [-json FILE] [-svg FILE] [-quick] BINDIR
//
// BINDIR has the commands. It exits 0 even if goals are missed, and 1 if something could not be
// run. It leaves out peers that are not installed, and says so.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

// Processes that the benchmark starts are killed with the thread that started them.
func init() { runtime.LockOSThread() }

// options are what the command line says.
type options struct {
	bin, dir, json, svg string
	only                *regexp.Regexp
	plan                plan
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if job := os.Getenv(workerVariable); job != "" {
		if err := work(job); err != nil {
			log.Fatal(err)
		}
		return
	}

	o, err := parse()
	if err != nil {
		log.Print(err)
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	err = run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func parse() (o options, err error) {
	rounds := flag.Int("rounds", 150, "how often each edit is timed; the other sections go by it")
	quick := flag.Bool("quick", false, "small sizes and 3 rounds: shows that it works, and "+
		"measures nothing")
	only := flag.String("only", "",
		"run the `sections` that match this regular expression, of "+sectionNames())
	flag.StringVar(&o.dir, "dir", "", "where the ledgers are made; the file system matters "+
		"(default: the temporary directory)")
	flag.StringVar(&o.json, "json", "", "write all that was measured to this `file`")
	flag.StringVar(&o.svg, "svg", "", "write a plot of cost against stack size to this `file`")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: bench [flags] BINDIR")
		flag.PrintDefaults()
	}

	flag.Parse()
	if flag.NArg() != 1 || *rounds < 1 {
		return o, fmt.Errorf("want one argument, and at least one round")
	}
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.svg != "" && !o.only.MatchString("edits") {
		return o, fmt.Errorf("-svg: the plot is of the section edits")
	}

	o.plan = planned(*rounds)
	if *quick {
		o.plan = quickPlan()
	}

	o.bin, err = filepath.Abs(flag.Arg(0))

	return o, err
}

// run measures what o asks for, prints it to out and writes the files. Everything it has created or
// started is gone when it returns.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	b, err := newBench(ctx, o, out)
	if err != nil {
		return err
	}
	defer b.close()

	b.printMachine()
	for _, s := range sections {
		if !o.only.MatchString(s.name) {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}

	b.judge()
	b.printGoals()
	if err := b.writeJSON(o.json); err != nil {
		return err
	}

	return b.writeSVG(o.svg)
}
