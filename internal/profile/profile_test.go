package profile

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
)

const canary = "canary-8c1f-login-cookie"

// quick returns a passphrase key with a minimal work factor.
func quick(t *testing.T, text string) Key {
	t.Helper()
	k, err := passphrase(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// identity returns a new key and the text of its file.
func identity(t *testing.T) (Key, string) {
	t.Helper()
	made, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	text := "# created: now\n" + made.String() + "\n"
	k, err := Identities([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k, text
}

func TestProfilesComeBackByTheirKeyAlone(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "a", "profiles")}
	one, _ := identity(t)
	other, _ := identity(t)
	phrase := quick(t, "correct horse")
	state := []byte(`{"cookies":[{"value":"` + canary + `"}]}`)
	for name, k := range map[string]Key{"by-file": one, "by.phrase": phrase} {
		if err := s.Save(name, state, k, false); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Load(name, k); err != nil || !bytes.Equal(got, state) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		for what, wrong := range map[string]Key{"another identity": other, "another passphrase": quick(t, "wrong horse")} {
			if got, err := s.Load(name, wrong); !errors.Is(err, ErrWrongKey) || got != nil {
				t.Errorf("%s with %s: %s, %v", name, what, got, err)
			}
		}
	}
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].Name != "by-file" || all[0].ByPassphrase || all[1].Name != "by.phrase" || !all[1].ByPassphrase || all[0].Bytes == 0 || all[0].Saved.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.Delete("by-file"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"load": second(s.Load("by-file", one)), "delete": s.Delete("by-file")} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestProfilesAreReplacedOnlyOnRequest(t *testing.T) {
	s := Store{t.TempDir()}
	k, _ := identity(t)
	if err := s.Save("p", []byte(`1`), k, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Save("p", []byte(`2`), k, false); !errors.Is(err, ErrExists) {
		t.Errorf("without replace: %v", err)
	}
	if err := s.Save("p", []byte(`3`), k, true); err != nil {
		t.Error(err)
	}
	if got, err := s.Load("p", k); err != nil || string(got) != "3" {
		t.Errorf("%s, %v", got, err)
	}
}

// If several writers run concurrently, one creates the profile. Readers never see a partial profile.
func TestWritersAtTheSameTime(t *testing.T) {
	s := Store{t.TempDir()}
	k, _ := identity(t)
	var made, exists int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := s.Save("p", []byte(`1`), k, false)
			_, loadErr := s.Load("p", k)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, ErrExists):
				exists++
			default:
				t.Error(err)
			}
			if loadErr != nil {
				t.Error(loadErr)
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(s.Dir); made != 1 || exists != 7 || err != nil || len(entries) != 1 {
		t.Errorf("%d made it, %d found it; %d files, %v", made, exists, len(entries), err)
	}
}

func TestNamesOfProfiles(t *testing.T) {
	s := Store{t.TempDir()}
	k, _ := identity(t)
	for _, name := range []string{"", ".", "..", ".hidden", "-x", "a/b", `a\b`, "../x", "a b", "a\x00", strings.Repeat("x", 65), "é"} {
		for what, err := range map[string]error{"save": s.Save(name, []byte(`1`), k, true), "load": second(s.Load(name, k)), "delete": s.Delete(name)} {
			if !errors.Is(err, ErrName) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}

// A person who can write the files cannot replace one profile with another, or modify a part of it.
func TestFilesThatWereChanged(t *testing.T) {
	s := Store{t.TempDir()}
	k, _ := identity(t)
	if err := s.Save("bank", []byte(`"`+strings.Repeat(canary, 10_000)+`"`), k, false); err != nil {
		t.Fatal(err)
	}
	sealed, err := os.ReadFile(filepath.Join(s.Dir, "bank.age"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(sealed)
	flipped[len(flipped)-5] ^= 1
	for what, raw := range map[string][]byte{"another name": sealed, "cut": sealed[:len(sealed)/2], "flipped": flipped, "empty": nil, "text": []byte("hello"), "longer": append(bytes.Clone(sealed), 0)} {
		if err := os.WriteFile(filepath.Join(s.Dir, "x.age"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Load("x", k); !errors.Is(err, ErrDamaged) || got != nil {
			t.Errorf("%s: %d bytes, %v", what, len(got), err)
		}
	}
}

// No plain text of a profile reaches the disk, even after failures, and only the owner may read the files.
func TestNothingIsWrittenInClear(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := Store{filepath.Join(dir, "profiles")}
	k, text := identity(t)
	state := []byte(`{"token":"` + canary + `"}`)
	for range 3 {
		if err := s.Save("p", state, k, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save("p", state, k, false); !errors.Is(err, ErrExists) {
		t.Fatal(err)
	}
	forms := []string{canary, hex.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte(canary))[:24], strings.Fields(text)[3]}
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, form := range forms {
			if bytes.Contains(raw, []byte(form)) {
				t.Errorf("%s has %q", path, form)
			}
		}
		info, err := e.Info()
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	if _, err := Passphrase(""); err == nil {
		t.Error("an empty passphrase is a key")
	}
	for _, text := range []string{"", "# nothing\n", "age1qqqq", "AGE-SECRET-KEY-1NO", "password"} {
		if _, err := Identities([]byte(text)); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	k, err := Identities([]byte(hybrid.String()))
	s := Store{t.TempDir()}
	if err == nil {
		err = s.Save("p", []byte(`1`), k, false)
	}
	if got, loadErr := s.Load("p", k); err != nil || loadErr != nil || string(got) != "1" {
		t.Errorf("a key that quantum computers do not break: %s, %v, %v", got, err, loadErr)
	}
}

// Stored data may be HTML, in which JSON could escape each < and > with six bytes. A saved state must be loadable again.
func TestALargeStateWithHTMLIsLoadedAgain(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	k, err := Identities([]byte(identity.String()))
	if err != nil {
		t.Fatal(err)
	}
	state := []byte(`"` + strings.Repeat("<", 12<<20) + `"`)
	if err := s.Save("large", state, k, false); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("large", k); err != nil || !bytes.Equal(got, state) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
