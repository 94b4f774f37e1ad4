package signing

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// text returns s as a field: with its length before it.
func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

// A security key signs as PROTOCOL.u2f of OpenSSH says, without a device.
type securityKey struct {
	private ed25519.PrivateKey
	blob    []byte // its public key
}

const skType = "sk-ssh-ed25519@openssh.com"

func newSecurityKey(t *testing.T) securityKey {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return securityKey{private, slices.Concat(text(skType), text(string(public)), text("ssh:"))}
}

// sign returns a signature of message, as ssh-keygen -Y sign makes it, with these flags of the
// device.
func (k securityKey) sign(message string, flags byte) string {
	digest := sha512.Sum512([]byte(message))
	what := slices.Concat([]byte("SSHSIG"), text(namespace), text(""), text("sha512"), text(string(digest[:])))
	application, whole := sha256.Sum256([]byte("ssh:")), sha256.Sum256(what)
	counter := []byte{0, 0, 0, 7}
	raw := ed25519.Sign(k.private, slices.Concat(application[:], []byte{flags}, counter, whole[:]))
	inner := slices.Concat(text(skType), text(string(raw)), []byte{flags}, counter)
	blob := slices.Concat([]byte("SSHSIG"), []byte{0, 0, 0, 1}, text(string(k.blob)), text(namespace), text(""),
		text("sha512"), text(string(inner)))
	return "-----BEGIN SSH SIGNATURE-----\n" + base64.StdEncoding.EncodeToString(blob) +
		"\n-----END SSH SIGNATURE-----\n"
}

// A security key must have been touched: ssh-keygen takes a signature without that as well.
func TestVerifyTouched(t *testing.T) {
	t.Parallel()
	strict.Program(t, "ssh-keygen")
	program, err := Verifier()
	if err != nil {
		t.Fatal(err)
	}
	key := newSecurityKey(t)
	line := " " + skType + " " + base64.StdEncoding.EncodeToString(key.blob) + "\n"
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, []byte("ada,bob"+line+"eve,x namespaces=\"file\""+line), 0o600); err != nil {
		t.Fatal(err)
	}

	names, err := Verify(program, signers, "yes", key.sign("yes", 1), time.Time{})
	if err != nil || !slices.Equal(names, []string{"ada", "bob"}) {
		t.Errorf("touched: %q, %v", names, err)
	}
	if names, err := Verify(program, signers, "yes", key.sign("yes", 0), time.Time{}); err == nil ||
		!strings.Contains(err.Error(), "was not touched") {
		t.Errorf("not touched: %q, %v", names, err)
	}
	if names, err := Verify(program, signers, "no", key.sign("yes", 1), time.Time{}); err == nil {
		t.Errorf("another text: %q", names)
	}
	if names, err := Verify(program, signers, "yes", newSecurityKey(t).sign("yes", 1), time.Time{}); err == nil {
		t.Errorf("another key: %q", names)
	}
	for _, other := range []string{"", "x", "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----",
		key.sign("yes", 1)[:60]} {
		if names, err := Verify(program, signers, "yes", other, time.Time{}); err == nil {
			t.Errorf("%q: %q", other, names)
		}
	}
}

// The environment and the programs of who asks do not verify.
func TestVerifyEnvironment(t *testing.T) {
	strict.Program(t, "ssh-keygen")
	program, err := Verifier()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ssh-keygen"), []byte("#!/bin/sh\necho ada\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(dir, "signers")
	if err := os.WriteFile(signers, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("LD_PRELOAD", filepath.Join(dir, "evil.so"))
	key := newSecurityKey(t)
	if names, err := Verify(program, signers, "yes", key.sign("yes", 1), time.Time{}); err == nil {
		t.Errorf("it is signed by %q", names)
	}
}
