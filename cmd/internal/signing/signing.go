// Package signing signs and verifies answers with ssh-keygen -Y, so that any key of SSH can be
// used: one in a file, in an agent, or on a security key that has to be touched.
package signing

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"
)

// namespace keeps a signature of an answer from being one of anything else.
const namespace = "dpl-answer"

// verifiers are the paths at which ssh-keygen is looked for to verify. $PATH is not: who asks sets
// it.
var verifiers = []string{"/usr/bin/ssh-keygen", "/usr/local/bin/ssh-keygen", "/bin/ssh-keygen"}

// Sign returns a signature of text by the key in the file, which may be a public key of which an
// agent has the other half. ssh-keygen may ask for a passphrase or a touch on the terminal.
func Sign(key, text string) (string, error) {
	return run(exec.Command("ssh-keygen", "-Y", "sign", "-q", "-n", namespace, "-f", key), text)
}

// Verifier returns the path of the ssh-keygen that Verify is to run.
func Verifier() (string, error) {
	for _, path := range verifiers {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", &fs.PathError{Op: "find", Path: verifiers[0], Err: fs.ErrNotExist}
}

// Verify returns the names under which the file signers, in the format of allowed_signers of
// ssh-keygen(1), has the key that has signed text, as of at; zero is now. The program is that of
// Verifier. It gets no
// environment, and the signature from a pipe, so that nobody can put another one in its place. A
// security key must have been touched.
func Verify(program, signers, text, signature string, at time.Time) (names []string, err error) {
	if err := touched(signature); err != nil {
		return nil, err
	}
	verify := func(input string, args ...string) (string, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return "", err
		}
		defer r.Close()
		go func() {
			w.WriteString(signature)
			w.Close()
		}()
		if !at.IsZero() {
			args = append(args, "-O", "verify-time="+at.UTC().Format("20060102150405Z"))
		}
		cmd := exec.Command(program, append(args, "-s", "/dev/fd/3")...)
		cmd.Env, cmd.ExtraFiles = []string{}, []*os.File{r}
		return run(cmd, input)
	}

	found, err := verify("", "-Y", "find-principals", "-f", signers)
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(found) {
		name = strings.TrimSpace(name)
		if _, wrong := verify(text, "-Y", "verify", "-n", namespace, "-f", signers, "-I", name); wrong != nil {
			err = wrong
			continue
		}
		names = append(names, name)
	}
	if len(names) == 0 && err == nil {
		err = errors.New("nobody in it has that key")
	}
	if len(names) > 0 {
		err = nil
	}
	return names, err
}

// decode returns the fields of a signature, of which the first is the public key. The format is
// PROTOCOL.sshsig and PROTOCOL.u2f of OpenSSH.
func decode(signature string) (fields []byte, err error) {
	const begin, end, magic = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----", "SSHSIG"
	_, armored, found := strings.Cut(signature, begin)
	armored, _, closed := strings.Cut(armored, end)
	blob, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(armored), ""))
	if !found || !closed || err != nil || !bytes.HasPrefix(blob, []byte(magic)) || len(blob) < len(magic)+4 {
		return nil, errors.New("it is no signature of ssh-keygen -Y sign")
	}
	return blob[len(magic)+4:], nil // behind the version
}

// Signer returns who has signed, for people: the name under which the signers have the key, or the
// fingerprint of that if the file has several names for it, or a pattern.
func Signer(names []string, signature string) string {
	if len(names) == 1 && !strings.ContainsAny(names[0], "*?!,") {
		return names[0]
	}
	fields, err := decode(signature)
	if err != nil {
		return ""
	}
	key, _ := field(fields)
	hash := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(hash[:])
}

// touched returns an error if the signature is by a security key that nobody has touched:
// ssh-keygen does not look at that.
func touched(signature string) error {
	rest, err := decode(signature)
	if err != nil {
		return err
	}
	for range []string{"public key", "namespace", "reserved", "hash algorithm"} { // before the signature
		_, rest = field(rest)
	}
	signed, _ := field(rest)
	kind, inner := field(signed)
	if !bytes.HasPrefix(kind, []byte("sk-")) {
		return nil
	}
	const present = 1
	if _, flags := field(inner); len(flags) == 0 || flags[0]&present == 0 {
		return errors.New("the security key was not touched")
	}
	return nil
}

// field returns the first field of blob, which has its length before it, and what follows.
func field(blob []byte) (first, rest []byte) {
	if len(blob) < 4 {
		return nil, nil
	}
	size := uint64(binary.BigEndian.Uint32(blob))
	if size > uint64(len(blob)-4) {
		return nil, nil
	}
	return blob[4 : 4+size], blob[4+size:]
}

// run returns what ssh-keygen prints.
func run(cmd *exec.Cmd, stdin string) (string, error) {
	cmd.Stdin = strings.NewReader(stdin)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		err = errors.New(text)
	}
	if err != nil {
		return "", fmt.Errorf("ssh-keygen: %w", err)
	}
	return string(out), nil
}
