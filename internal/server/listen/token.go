package listen

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	tokenBytes = 32
	// minToken is the shortest token that is accepted from a file that somebody wrote by hand.
	minToken = 32
	// maxSecrets is how much is read of a file with secrets, in bytes.
	maxSecrets = 1 << 20
)

// DefaultTokenFile returns where the bearer token is kept for this user: domtap/token below the
// user's configuration directory.
func DefaultTokenFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the token file: give one with --token-file: %w", err)
	}
	return filepath.Join(dir, "domtap", "token"), nil
}

// ReadToken returns the bearer token kept at path. It refuses a file that other users may read.
// The error is fs.ErrNotExist, wrapped, when there is none yet.
func ReadToken(path string) (string, error) {
	data, err := ReadPrivate(path)
	if _, ok := errors.AsType[*OpenError](err); ok {
		return "", fmt.Errorf("%w, or delete it: the daemon then makes a new token", err)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsFunc(token, notVisible) {
		return "", fmt.Errorf("the token file %s does not hold a token of at least %d visible ASCII characters: "+
			"delete it: the daemon then makes a new token", path, minToken)
	}
	return token, nil
}

// OpenError says that other users can access a file with secrets.
type OpenError struct{ Path string }

// Error says what to do.
func (e *OpenError) Error() string {
	return fmt.Sprintf("other users may read the file %s: make it yours and run chmod 600 %s", e.Path, e.Path)
}

// ReadPrivate reads a file that holds secrets. It fails with an *OpenError when other users may read or write it.
func ReadPrivate(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !ownedByUs(info, false) || openTo(info, 0o077) {
		return nil, &OpenError{path}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSecrets+1))
	if err == nil && len(data) > maxSecrets {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSecrets)
	}
	return data, err
}

// NewToken makes a token of 32 random bytes.
func NewToken() (string, error) {
	raw := make([]byte, tokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// notVisible reports whether r is not allowed in the value of an HTTP header.
func notVisible(r rune) bool { return r <= ' ' || r > '~' }

// Token returns the bearer token kept at path, and makes one of 32 random bytes at first use. Of two
// daemons that start together both get the same.
func Token(path string) (string, error) {
	token, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	made, err := NewToken()
	if err != nil {
		return "", err
	}
	if err := writeOnce(path, made+"\n"); err != nil {
		return "", fmt.Errorf("save the token: %w", err)
	}
	return ReadToken(path)
}

// writeOnce creates a file of mode 0600 with all of its content at once. A file that is there
// already is left alone.
func writeOnce(path, content string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".token-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(content)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, does not replace what another daemon has just put there.
	if err = os.Link(temp.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(temp.Name(), path)
}
