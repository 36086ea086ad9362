// Package profile stores login profiles. A profile is a named storage state in a file that is encrypted with age.
//
// Without its key, only the name, size and age of a profile are readable. A file is replaced atomically, by a rename: readers see either
// the old or the new file.
package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Errors of a Store. They are wrapped.
var (
	// ErrNotFound reports that the profile does not exist.
	ErrNotFound = errors.New("no such profile")
	// ErrExists reports that a profile with that name exists.
	ErrExists = errors.New("the profile exists")
	// ErrWrongKey reports that the key does not decrypt the profile.
	ErrWrongKey = errors.New("wrong key")
	// ErrDamaged reports that the file was modified, truncated, or renamed.
	ErrDamaged = errors.New("the profile is damaged")
	// ErrName reports an invalid profile name.
	ErrName = errors.New("not a profile name: use 1 to 64 letters, digits, -, _ and ., such as work")
)

// MaxBytes limits the state of a profile.
const MaxBytes = 64 << 20

// suffix is the suffix of profile files.
const suffix = ".age"

var names = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// Key encrypts and decrypts profiles. The zero value means that there is no key.
type Key struct {
	recipients []age.Recipient
	identities []age.Identity
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return len(k.identities) == 0 }

// Passphrase returns the key for a passphrase, which must not be empty. Using the key takes about a second and 256 MB of memory.
func Passphrase(text string) (Key, error) { return passphrase(text, 0) }

// passphrase returns the key for a passphrase with a cost of 2 to the power of work steps. Zero selects the default of age.
func passphrase(text string, work int) (Key, error) {
	to, err := age.NewScryptRecipient(text)
	if err != nil {
		return Key{}, err
	}
	by, err := age.NewScryptIdentity(text)
	if err != nil {
		return Key{}, err
	}
	if work > 0 {
		to.SetWorkFactor(work)
	}
	return Key{[]age.Recipient{to}, []age.Identity{by}}, nil
}

// Identities returns the key for the text of an identity file in the format of age-keygen. Profiles are encrypted to all of its identities,
// and any one of them decrypts them.
func Identities(text []byte) (Key, error) {
	all, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil { // the error quotes the file, which may contain a passphrase
		return Key{}, errors.New("it has no age identities, lines that begin with AGE-SECRET-KEY-")
	}
	k := Key{identities: all}
	for _, one := range all {
		switch one := one.(type) {
		case *age.X25519Identity:
			k.recipients = append(k.recipients, one.Recipient())
		case *age.HybridIdentity:
			k.recipients = append(k.recipients, one.Recipient())
		default:
			return Key{}, fmt.Errorf("an identity of type %T cannot encrypt", one)
		}
	}
	return k, nil
}

// Store accesses the profiles in a directory. It creates the directory when needed.
type Store struct{ Dir string }

// Info describes a profile as far as that is possible without its key.
type Info struct {
	Name string `json:"name"`
	// Saved is the time when the profile was last written.
	Saved time.Time `json:"saved"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// ByPassphrase reports that the key is a passphrase rather than an identity.
	ByPassphrase bool `json:"by_passphrase"`
}

// envelope is the encrypted content. It includes the name, so that one profile cannot be substituted for another.
type envelope struct {
	Profile string          `json:"profile"`
	State   json.RawMessage `json:"state"`
}

func (s Store) file(name string) (string, error) {
	if !names().MatchString(name) {
		return "", fmt.Errorf("%q: %w", name, ErrName)
	}
	return filepath.Join(s.Dir, name+suffix), nil
}

// Check fails with ErrExists if a profile with the name exists and replace is false, and with ErrName if the name is invalid.
func (s Store) Check(name string, replace bool) error {
	file, err := s.file(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil && !replace {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	return nil
}

// Save writes a profile. state is JSON. Save fails with ErrExists if a profile with the name exists and replace is false.
func (s Store) Save(name string, state []byte, k Key, replace bool) error {
	if err := s.Check(name, replace); err != nil { // checked before the second that a passphrase takes
		return err
	}
	if len(state) > MaxBytes {
		return fmt.Errorf("the profile %s would have more than %d MiB", name, MaxBytes>>20)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // escaping could make states with HTML up to six times larger, beyond the limit of Load
	if err := encoder.Encode(envelope{name, state}); err != nil {
		return fmt.Errorf("write the profile %s: %w", name, err)
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, k.recipients...)
	if err == nil {
		_, err = w.Write(text.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("encrypt the profile %s: %w", name, err)
	}
	return s.write(filepath.Join(s.Dir, name+suffix), sealed.Bytes(), replace)
}

// write writes a file and moves it into place. Only encrypted bytes reach the disk.
func (s Store) write(file string, sealed []byte, replace bool) (err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(s.Dir, ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // after a rename the file no longer exists
	_, err = temporary.Write(sealed)
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(temporary.Name(), file)
	}
	err = os.Link(temporary.Name(), file) // unlike a rename, a link does not replace an existing file
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(filepath.Base(file), suffix), ErrExists)
	}
	return err
}

// Load returns the state of a profile.
func (s Store) Load(name string, k Key) ([]byte, error) {
	file, err := s.file(name)
	if err != nil {
		return nil, err
	}
	sealed, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = sealed.Close() }()
	text, err := decrypt(sealed, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil || e.Profile != name {
		return nil, fmt.Errorf("%s: %w: it was saved as %q", name, ErrDamaged, e.Profile)
	}
	return e.State, nil
}

// decrypt returns the content of a file. If the file was modified, it returns nothing.
func decrypt(sealed io.Reader, k Key) ([]byte, error) {
	open, err := age.Decrypt(sealed, k.identities...)
	var unmatched *age.NoIdentityMatchError
	switch {
	case errors.As(err, &unmatched), errors.Is(err, age.ErrIncorrectIdentity):
		return nil, fmt.Errorf("%w: none of your keys decrypts it", ErrWrongKey)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	text, err := io.ReadAll(io.LimitReader(open, MaxBytes+1<<10))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return text, nil
}

// List returns the profiles sorted by name. Other files are omitted.
func (s Store) List() ([]Info, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), suffix)
		info, err := e.Info()
		if !is || !names().MatchString(name) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, Info{Name: name, Saved: info.ModTime(), Bytes: info.Size(), ByPassphrase: s.byPassphrase(name)})
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// byPassphrase reads the header of a profile.
func (s Store) byPassphrase(name string) bool {
	file, err := os.Open(filepath.Join(s.Dir, name+suffix))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	header := make([]byte, 64)
	n, _ := io.ReadFull(file, header) // a file that is too short lacks this line
	return bytes.Contains(header[:n], []byte("\n-> scrypt "))
}

// Delete deletes a profile.
func (s Store) Delete(name string) error {
	file, err := s.file(name)
	if err != nil {
		return err
	}
	err = os.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return err
}
