package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTemporaryFilesOfABrowserAreItsOwn checks where a browser puts temporary files: in its home, or, if a socket's path there would be too
// long, in a directory that is removed with the home.
func TestTemporaryFilesOfABrowserAreItsOwn(t *testing.T) {
	short, err := os.MkdirTemp("", "d") // the test's own directory may have a long path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	for name, state := range map[string]string{"short": short, "long": filepath.Join(short, strings.Repeat("long", 20))} {
		h, err := newHome(Config{StateDir: state})
		if err != nil {
			t.Fatal(err)
		}
		if len(h.temp)+len(socketSuffix) > maxSocketPath || strings.HasPrefix(h.temp, h.dir) != (name == "short") {
			t.Errorf("%s: temporary files go to %s, beside %s", name, h.temp, h.dir)
		}
		if info, err := os.Stat(h.temp); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if err := h.remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(h.temp); !os.IsNotExist(err) {
			t.Errorf("%s: %s is left: %v", name, h.temp, err)
		}
	}
}

// TestALongTMPDIRIsNoPlaceForSockets sets a TMPDIR whose path is too long for sockets.
func TestALongTMPDIRIsNoPlaceForSockets(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	h, err := newHome(Config{StateDir: long})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.temp)+len(socketSuffix) > maxSocketPath {
		t.Errorf("temporary files go to %s", h.temp)
	}
	if err := h.remove(); err != nil {
		t.Error(err)
	}
}

// TestNotesOfOthersDeleteNothing sweeps a note that names a directory that does not belong to a browser.
func TestNotesOfOthersDeleteNothing(t *testing.T) {
	root, precious := t.TempDir(), t.TempDir()
	dead := filepath.Join(root, "b1")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	note := `{"daemon":{"pid":999999999,"start":"1"},"profile":"` + dead + `/profile","temp":"` + precious + `"}`
	if err := os.WriteFile(filepath.Join(dead, ownerFile), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the home of a dead daemon is left: %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("a directory that is not a browser's is gone: %v", err)
	}
}

func TestTheBrowserGetsNoSecretsOfTheEnvironment(t *testing.T) {
	h := &home{temp: "/t"}
	got := strings.Join(h.environment([]string{"HOME=/h", "PATH=/bin", "https_proxy=http://p", "TMPDIR=/old", "DOMTAP_PROXY=canary", "DOMTAP_CREDENTIALS=canary",
		"OTEL_EXPORTER_OTLP_HEADERS=canary", "aws_secret_access_key=canary", "GITHUB_TOKEN=canary", "PGPASSWORD=canary", "OPENAI_API_KEY=canary"}), " ")
	if want := "HOME=/h PATH=/bin https_proxy=http://p TMPDIR=/old TMPDIR=/t BREAKPAD_DUMP_LOCATION=/t/crashes"; got != want {
		t.Errorf("the environment is %s, want %s", got, want)
	}
}
