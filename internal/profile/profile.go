// Package profile keeps login profiles: storage states under names, each in a file that is encrypted with age.
//
// Nothing of a profile but its name, size and age is readable without its key. A file is replaced as a whole, by a rename:
// whoever reads it gets the old one or the new one.
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
	// ErrNotFound: there is no such profile.
	ErrNotFound = errors.New("no such profile")
	// ErrExists: there is a profile of the name.
	ErrExists = errors.New("the profile exists")
	// ErrWrongKey: the key does not open the profile.
	ErrWrongKey = errors.New("wrong key")
	// ErrDamaged: the file was changed, cut, or put under another name.
	ErrDamaged = errors.New("the profile is damaged")
	// ErrName: the name is not that of a profile.
	ErrName = errors.New("not a name of a profile: use 1 to 64 letters, digits, and the characters -, _ and .; for example work")
)

// MaxBytes is the largest state of a profile.
const MaxBytes = 64 << 20

// suffix is that of the files.
const suffix = ".age"

var names = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

// Key encrypts and decrypts profiles. The zero value is none.
type Key struct {
	recipients []age.Recipient
	identities []age.Identity
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return len(k.identities) == 0 }

// Passphrase makes the key of a passphrase, which must not be empty. Using it takes about a second, and 256 MB for that time.
func Passphrase(text string) (Key, error) { return passphrase(text, 0) }

// passphrase makes the key of a passphrase that takes 2 to the power of work steps, 0: as many as age does.
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

// Identities makes the key of the text of an identity file, as age-keygen writes it. Profiles are encrypted to all of its
// identities, and any of them opens them.
func Identities(text []byte) (Key, error) {
	all, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil { // whose text quotes the file, which may be a passphrase
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

// Store is the profiles in a directory, which is made when it is needed.
type Store struct{ Dir string }

// Info is what is known of a profile without its key.
type Info struct {
	Name string `json:"name"`
	// Saved is when the profile was written last.
	Saved time.Time `json:"saved"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// ByPassphrase says that the key is a passphrase, and not an identity.
	ByPassphrase bool `json:"by_passphrase"`
}

// envelope is what is encrypted. It has the name, so that nobody can put one profile in the place of another.
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

// Check fails with ErrExists when there is a profile of the name, unless replace is set, and with ErrName when it is none.
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

// Save writes a profile; state is JSON. It fails with ErrExists when there is one of the name, unless replace is set.
func (s Store) Save(name string, state []byte, k Key, replace bool) error {
	if err := s.Check(name, replace); err != nil { // before the second that a passphrase takes
		return err
	}
	if len(state) > MaxBytes {
		return fmt.Errorf("the profile %s would have more than %d MiB", name, MaxBytes>>20)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // else states with HTML grow up to sixfold, beyond what Load reads
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

// write puts a file in its place. Only encrypted bytes reach the disk.
func (s Store) write(file string, sealed []byte, replace bool) (err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(s.Dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // it is gone after a rename
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
	err = os.Link(temporary.Name(), file) // unlike a rename, it replaces nothing
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

// decrypt returns what is in a file. Nothing of a file that was changed is returned.
func decrypt(sealed io.Reader, k Key) ([]byte, error) {
	open, err := age.Decrypt(sealed, k.identities...)
	var unmatched *age.NoIdentityMatchError
	switch {
	case errors.As(err, &unmatched), errors.Is(err, age.ErrIncorrectIdentity):
		return nil, fmt.Errorf("%w: no key of yours opens it", ErrWrongKey)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	text, err := io.ReadAll(io.LimitReader(open, MaxBytes+1<<10))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return text, nil
}

// List lists the profiles by name. Files that are no profiles are left out.
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

// byPassphrase looks at the header of a profile.
func (s Store) byPassphrase(name string) bool {
	file, err := os.Open(filepath.Join(s.Dir, name+suffix))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	header := make([]byte, 64)
	n, _ := io.ReadFull(file, header) // a short file has no such line
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
