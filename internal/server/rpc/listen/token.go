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
	// minToken is the minimum length of a token in a file that the user wrote.
	minToken = 32
	// maxSecrets is the maximum size in bytes of a file with secrets.
	maxSecrets = 1 << 20
)

// DefaultTokenFile returns the path of this user's bearer token: domtap/token below the user's configuration directory.
func DefaultTokenFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the token file: give one with --token-file: %w", err)
	}
	return filepath.Join(dir, "domtap", "token"), nil
}

// ReadToken reads the bearer token at path. It refuses a file that other users can read. If the file does not exist, the error wraps
// fs.ErrNotExist.
func ReadToken(path string) (string, error) {
	data, err := ReadPrivate(path)
	if _, ok := errors.AsType[*InsecureFileError](err); ok {
		return "", fmt.Errorf("%w, or delete it, and the daemon creates a new token", err)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsFunc(token, notVisible) {
		return "", fmt.Errorf("the token file %s does not hold a token of at least %d visible ASCII characters: "+
			"delete it, and the daemon creates a new token", path, minToken)
	}
	return token, nil
}

// InsecureFileError reports that other users can access a file with secrets.
type InsecureFileError struct{ Path string }

// Error returns a message that suggests how to fix the file.
func (e *InsecureFileError) Error() string {
	return fmt.Sprintf("other users may read the file %s: make sure that you own it, and run chmod 600 %s", e.Path, e.Path)
}

// ReadPrivate reads a file that holds secrets. It returns an *InsecureFileError if other users can read or write the file.
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
		return nil, &InsecureFileError{path}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSecrets+1))
	if err == nil && len(data) > maxSecrets {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSecrets)
	}
	return data, err
}

// NewToken returns a token of 32 random bytes.
func NewToken() (string, error) {
	raw := make([]byte, tokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// notVisible reports whether r is not a visible ASCII character, as the value of an HTTP header requires.
func notVisible(r rune) bool { return r <= ' ' || r > '~' }

// Token returns the bearer token at path. On first use it creates a token of 32 random bytes. Two daemons that start concurrently get the
// same token.
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

// writeOnce creates a file of mode 0600 atomically with all of its content. It leaves an existing file alone.
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
	// Unlike a rename, a link does not replace a file that another daemon has just created.
	if err = os.Link(temp.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(temp.Name(), path)
}
