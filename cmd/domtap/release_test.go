package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/domtap/domtap/internal/testenv"
)

// Each version has the form that its readers expect. A version without a tag sorts before all others.
func TestVersionsAreSpelled(t *testing.T) {
	for version, want := range map[string][2]string{
		"v1.2.3":                   {"1.2.3", "1.2.3"},
		"v1.2.3-rc.1":              {"1.2.3-rc.1", "1.2.3rc1"},
		"v1.2.3-4-gabc1234":        {"1.2.3-4-gabc1234", "1.2.3.post4+abc1234"},
		"abc1234-dirty":            {"0.0.0-gabc1234-dirty", "0.0.0+abc1234.dirty"},
		"0.0.0":                    {"0.0.0", "0.0.0"},
		"v10.20.30-40-g5551234-d1": {"10.20.30-40-g5551234-d1", "10.20.30.post40+5551234.d1"},
	} {
		for i, form := range []string{"semver", "pep440"} {
			text, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "version"), form, version).Output()
			if got := strings.TrimSpace(string(text)); err != nil || got != want[i] {
				t.Errorf("%s of %s: %q, %v; want %q", form, version, got, err, want[i])
			}
		}
	}
}

// TestTheActionIsWellFormed checks action.yml against the parts of GitHub's metadata syntax that it uses.
func TestTheActionIsWellFormed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Name, Description string
		Branding          struct{ Icon, Color string }
		Inputs            map[string]struct{ Description, Default string }
		Outputs           map[string]struct{ Description, Value string }
		Runs              struct {
			Using string
			Steps []struct {
				ID, Shell, Run string
				Env            map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 1 || action.Runs.Steps[0].Shell == "" {
		t.Fatalf("the steps are %+v", action.Runs)
	}
	step := action.Runs.Steps[0]
	script, err := os.ReadFile(filepath.Join(root, "packaging", "action", "install"))
	if err != nil || !strings.Contains(step.Run, "/packaging/action/install") {
		t.Errorf("it runs %q: %v", step.Run, err)
	}
	for name, value := range step.Env {
		input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
		if _, ok := action.Inputs[input]; !ok || !strings.Contains(string(script), "${"+name) {
			t.Errorf("%s is %q: no input, or not read", name, value)
		}
	}
	for name, output := range action.Outputs {
		if output.Value != "${{ steps."+step.ID+".outputs."+name+" }}" || !strings.Contains(string(script), `"`+name+"=") {
			t.Errorf("the output %s is %q, or is not written", name, output.Value)
		}
	}
}

// The action installs the program of a release and rejects a program that differs from the release.
func TestTheActionInstalls(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the action runs on Linux and macOS")
	}
	name := "domtap-v1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH
	release := filepath.Join(t.TempDir(), "v1.2.3")
	if err := os.MkdirAll(filepath.Join(release, name), 0o700); err != nil {
		t.Fatal(err)
	}
	program := "#!/bin/sh\n[ \"$1\" = socket ] && echo /run/here/domtap.sock || echo domtap v1.2.3\n"
	if err := os.WriteFile(filepath.Join(release, name, "domtap"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(release, name+".tar.gz")
	if text, err := exec.CommandContext(t.Context(), "tar", "-C", release, "-czf", archive, name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	sums := filepath.Join(release, "SHA256SUMS")
	if err := os.WriteFile(sums, fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(data), filepath.Base(archive)), 0o600); err != nil {
		t.Fatal(err)
	}
	url := testenv.Serve(t, http.FileServer(http.Dir(filepath.Dir(release))))
	// A fake browser that only prints its version, so that no libraries can be missing.
	browser := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\necho Chromium 999.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	install := func(version string) (string, string) {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "packaging", "action", "install"))
		cmd.Env = append(os.Environ(), "DOMTAP_CHROME="+browser, "DOMTAP_ACTION_URL="+url, "DOMTAP_ACTION_VERSION="+version,
			"RUNNER_TEMP="+dir, "GITHUB_PATH="+dir+"/path", "GITHUB_OUTPUT="+dir+"/output")
		said, _ := cmd.CombinedOutput()
		var wrote []byte
		for _, file := range []string{"path", "output"} {
			text, _ := os.ReadFile(filepath.Join(dir, file))
			wrote = append(wrote, text...)
		}
		return string(said), strings.ReplaceAll(string(wrote), dir, "TEMP")
	}
	if said, wrote := install("v1.2.3"); said != "domtap v1.2.3\n" || wrote != "TEMP/domtap-v1.2.3/"+name+"\nsocket=/run/here/domtap.sock\n" {
		t.Errorf("it said %q and wrote %q", said, wrote)
	}
	for version, want := range map[string]string{"main": "no release is named main", "v9.9.9": "cannot be downloaded"} {
		if said, wrote := install(version); !strings.Contains(said, want) || wrote != "" {
			t.Errorf("%s: it said %q and wrote %q", version, said, wrote)
		}
	}
	if err := os.WriteFile(archive, append(data, 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, wrote := install("v1.2.3"); !strings.Contains(said, "damaged") || wrote != "" {
		t.Errorf("of another archive it said %q and wrote %q", said, wrote)
	}
}
