// Package signing signs and verifies answers with ssh-keygen -Y, so that any key of SSH can be
// used: one in a file, in an agent, or on a security key that has to be touched.
package signing

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// namespace keeps a signature of an answer from being one of anything else.
const namespace = "dpl"

// Sign returns a signature of text by the key in the file, which may be a public key of which an
// agent has the other half. ssh-keygen may ask for a passphrase or a touch on the terminal.
func Sign(key, text string) (string, error) {
	return run(text, "-Y", "sign", "-q", "-n", namespace, "-f", key)
}

// Verify returns the name under which the file signers, in the format of allowed_signers of
// ssh-keygen(1), has the key that has signed text.
func Verify(signers, text, signature string) (string, error) {
	f, err := os.CreateTemp("", "dpl-signature")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(signature)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}

	names, err := run("", "-Y", "find-principals", "-f", signers, "-s", f.Name())
	if err != nil {
		return "", err
	}
	for name := range strings.Lines(names) {
		name = strings.TrimSpace(name)
		_, err = run(text, "-Y", "verify", "-n", namespace, "-f", signers, "-I", name, "-s", f.Name())
		if err == nil {
			return name, nil
		}
	}
	if err == nil {
		err = errors.New("nobody in it has that key")
	}
	return "", err
}

// run returns what ssh-keygen prints.
func run(stdin string, args ...string) (string, error) {
	cmd := exec.Command("ssh-keygen", args...)
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
