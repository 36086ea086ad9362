package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

func packaged(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkLine checks a domtap command line in a file. The command and all its flags must exist.
func checkLine(t *testing.T, where string, words []string) {
	t.Helper()
	cmd, rest, err := newRoot(newApp(environment(nil), nil, io.Discard, io.Discard)).Find(words)
	if err != nil || cmd.Name() == "domtap" {
		t.Errorf("%s: %v names no command: %v", where, words, err)
		return
	}
	for _, word := range rest {
		if name, isFlag := strings.CutPrefix(word, "--"); isFlag {
			name, _, _ = strings.Cut(name, "=")
			if cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s: %s has no flag --%s", where, cmd.Name(), name)
			}
		}
	}
}

// checkSettings checks a configuration file.
func checkSettings(t *testing.T, where, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": t.TempDir()}}
	if got := cmd.run(t, "config", "--config", path); got.code != exit.OK {
		t.Errorf("%s: %s", where, got.errors)
	}
}

func TestTheDockerfileNamesWhatThereIs(t *testing.T) {
	text := packaged(t, "docker/Dockerfile")
	text = strings.ReplaceAll(text, "\\\n", " ")
	sandboxed := false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "COPY":
			if strings.HasPrefix(words[1], "--from") {
				continue
			}
			for _, source := range words[1 : len(words)-1] {
				if _, err := os.Stat(filepath.Join(root, source)); err != nil {
					t.Errorf("COPY: %v", err)
				}
			}
		case "CMD", "HEALTHCHECK":
			var list []string
			if err := json.Unmarshal([]byte(line[strings.Index(line, "["):]), &list); err != nil {
				t.Fatal(err)
			}
			if list[0] == "domtap" {
				list = list[1:]
			}
			checkLine(t, "Dockerfile", list)
		case "USER":
			sandboxed = words[1] != "root" && words[1] != "0"
		}
	}
	if !sandboxed || strings.Contains(text, "no-sandbox") {
		t.Error("Chromium would have no sandbox")
	}
	checkSettings(t, "docker/config", packaged(t, "docker/config"))
	var profile struct {
		Syscalls []struct{ Names []string }
	}
	if err := json.Unmarshal([]byte(packaged(t, "docker/seccomp.json")), &profile); err != nil {
		t.Fatal(err)
	}
	for _, refused := range profile.Syscalls {
		for _, name := range refused.Names {
			if name == "clone" || name == "clone3" || name == "unshare" || name == "chroot" || name == "seccomp" || name == "setns" {
				t.Errorf("%s is refused, which the sandbox needs", name)
			}
		}
	}
}

func TestTheUnitsAreGood(t *testing.T) {
	for _, name := range []string{"domtap.service", "domtap-user.service"} {
		text := packaged(t, "systemd/"+name)
		line := regexp.MustCompile(`(?m)^ExecStart=\S*domtap (.*)$`).FindStringSubmatch(text)
		if line == nil {
			t.Fatalf("%s starts nothing", name)
		}
		checkLine(t, name, strings.Fields(line[1]))
		for _, breaks := range []string{"\nRestrictNamespaces=", "\nMemoryDenyWriteExecute=yes", "\nPrivateUsers="} {
			if strings.Contains(text, breaks) {
				t.Errorf("%s has %s, which breaks Chromium or its sandbox", name, strings.TrimSpace(breaks))
			}
		}
		verify(t, name, text)
	}
	text := regexp.MustCompile(`(?m)^#(\S+ = )`).ReplaceAllString(packaged(t, "systemd/config"), "$1")
	checkSettings(t, "systemd/config", text)
}

// verify checks a unit with systemd, if it is installed.
func verify(t *testing.T, name, text string) {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	unit := filepath.Join(t.TempDir(), name)
	text = strings.ReplaceAll(text, "/usr/local/bin/domtap", "/bin/true") // the program must exist
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, "verify", "--man=no", unit).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, name) {
			t.Errorf("systemd: %s", line)
		}
	}
	if err != nil && bytes.Contains(out, []byte(name)) {
		t.Errorf("systemd: %v", err)
	}
}

// object holds the checked fields of a Kubernetes object.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Template struct{ Spec pod }
		Ports    []struct{ Port int }
	}
}

type pod struct {
	SecurityContext struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []struct {
		Name           string
		Args           []string
		StartupProbe   probe   `yaml:"startupProbe"`
		ReadinessProbe probe   `yaml:"readinessProbe"`
		LivenessProbe  probe   `yaml:"livenessProbe"`
		VolumeMounts   []mount `yaml:"volumeMounts"`
		Resources      struct{ Limits map[string]string }
		Lowered        struct {
			ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
		} `yaml:"securityContext"`
	}
	Volumes []struct{ Name string }
}

func TestTheManifestsSayWhatTheyShould(t *testing.T) {
	kinds := map[string]int{}
	decoder := yaml.NewDecoder(strings.NewReader(packaged(t, "kubernetes/domtap.yaml")))
	for {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds[o.Kind]++
		if o.Metadata.Name == "" {
			t.Errorf("a %s has no name", o.Kind)
		}
		if text, ok := o.Data["config"]; ok {
			checkSettings(t, "the ConfigMap", text)
		}
		if o.Kind == "Deployment" {
			checkPod(t, o.Spec.Template.Spec)
		}
	}
	for _, kind := range []string{"ConfigMap", "Deployment", "Service", "NetworkPolicy"} {
		if kinds[kind] != 1 {
			t.Errorf("there are %d of kind %s", kinds[kind], kind)
		}
	}
}

func checkPod(t *testing.T, p pod) {
	t.Helper()
	if !p.SecurityContext.RunAsNonRoot || len(p.Containers) != 1 || !p.Containers[0].Lowered.ReadOnlyRootFilesystem {
		t.Errorf("the pod is not as it should be: %+v", p)
		return
	}
	volumes := map[string]bool{}
	for _, v := range p.Volumes {
		volumes[v.Name] = true
	}
	c := p.Containers[0]
	checkLine(t, "the Deployment", c.Args)
	for _, command := range [][]string{c.StartupProbe.Exec.Command, c.ReadinessProbe.Exec.Command, c.LivenessProbe.Exec.Command} {
		if len(command) < 2 {
			t.Error("a probe is missing")
			continue
		}
		checkLine(t, "a probe", command[1:])
	}
	shm := false
	for _, m := range c.VolumeMounts {
		shm = shm || m.MountPath == "/dev/shm"
		if !volumes[m.Name] {
			t.Errorf("there is no volume %s", m.Name)
		}
	}
	if !shm || c.Resources.Limits["memory"] == "" {
		t.Error("the memory is not bounded, or /dev/shm is too small")
	}
}

type probe struct{ Exec struct{ Command []string } }

type mount struct {
	Name      string
	MountPath string `yaml:"mountPath"`
}
