package messages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func lost(n int) string { return fmt.Sprintf("lost %d\n", n) }

func pipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	return reader, writer
}

// What nobody reads holds up neither a message nor the end. Once it is read, all messages that fit
// are there, whole and in order, and after them how many are lost.
func TestUnread(t *testing.T) {
	reader, writer := pipe(t)
	w := New(writer, lost)
	const all = 3000
	message := func(i int) string { return fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 90)) }
	for i := range all {
		w.Write([]byte(message(i)))
	}
	if err := w.Flush(); !errors.Is(err, ErrUnread) {
		t.Fatalf("Flush returned %v, want ErrUnread", err)
	}

	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(reader)
		read <- string(text)
	}()
	if err := w.Flush(); !errors.Is(err, ErrUnread) {
		t.Errorf("Flush returned %v although messages are lost, want ErrUnread", err)
	}
	writer.Close()

	rest := <-read
	kept := 0
	for i := range all {
		if after, is := strings.CutPrefix(rest, message(i)); is {
			rest, kept = after, kept+1
		}
	}
	if rest != lost(all-kept) || kept < most/len(message(all)) {
		t.Errorf("%d of %d messages were read, and after them %.50q", kept, all, rest)
	}
}

// A reader that is slow, but reads, gets everything.
func TestSlowReader(t *testing.T) {
	reader, writer := pipe(t)
	w := New(writer, lost)
	want := bytes.Repeat([]byte("a message of some length\n"), 5000)
	w.Write(want)

	read := make(chan []byte)
	go func() {
		var got []byte
		some := make([]byte, 1000)
		for len(got) < len(want) {
			n, err := reader.Read(some)
			if err != nil {
				break
			}
			got = append(got, some[:n]...)
		}
		read <- got
	}()
	if err := w.Flush(); err != nil {
		t.Errorf("Flush returned %v", err)
	}
	if got := <-read; !bytes.Equal(got, want) {
		t.Errorf("%d bytes were read, want %d", len(got), len(want))
	}
}

// late is a writer that gets a processor late.
type late struct{ io.Writer }

func (l late) Write(text []byte) (int, error) {
	<-time.After(3 * patience)
	return l.Writer.Write(text)
}

// A message that could be written is, however busy the machine is.
func TestBusyMachine(t *testing.T) {
	_, writer := pipe(t)
	w := New(writer, lost)
	w.Through(func(to io.Writer) io.Writer { return late{to} })
	w.Write([]byte("a message\n"))
	if err := w.Flush(); err != nil {
		t.Errorf("Flush returned %v, though the pipe is empty", err)
	}
}

// Settle waits once for a reader that reads nothing, and again when it has read.
func TestSettle(t *testing.T) {
	reader, writer := pipe(t)
	w := New(writer, lost)
	w.Write(make([]byte, 2*most))
	w.Settle()
	start := time.Now()
	for range 100 {
		w.Settle()
	}
	if passed := time.Since(start); passed > 100*patience/2 {
		t.Errorf("100 times Settle took %v", passed)
	}

	go io.Copy(io.Discard, reader)
	w.Flush()
	w.Write([]byte("a message\n"))
	w.Settle()
	if busy, _ := w.progress(); busy != nil {
		t.Error("Settle did not wait for a reader")
	}
}

// A message goes to a broken pipe only once, and the error is known.
func TestBroken(t *testing.T) {
	reader, writer := pipe(t)
	reader.Close()
	w := New(writer, lost)
	w.Write([]byte("a message\n"))
	if err := w.Flush(); err == nil || errors.Is(err, ErrUnread) {
		t.Errorf("Flush returned %v, want the error of the write", err)
	}
}
