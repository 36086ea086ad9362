//go:build cluster

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// composed holds the checked fields of a service in the compose file.
type composed struct {
	Hostname    string
	Command     []string
	Environment map[string]string
	Build       struct {
		Context, Dockerfile string
		Args                map[string]string
	}
	SecurityOpt []string `yaml:"security_opt"`
	Ports       []string
}

// The settings of the three nodes must be valid for a daemon with cluster support, and consistent with each other.
func TestTheComposeFileIsACluster(t *testing.T) {
	var file struct {
		Services map[string]composed
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal([]byte(packaged(t, "docker/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Services) != 3 || len(file.Volumes) != 3 {
		t.Fatalf("there are %d services and %d volumes", len(file.Services), len(file.Volumes))
	}
	docker, ports := filepath.Join(root, "packaging", "docker"), map[string]bool{}
	for name, s := range file.Services {
		checkLine(t, name, s.Command)
		env := map[string]string{"DOMTAP_STATE_DIR": t.TempDir()}
		for variable, value := range s.Environment {
			env[variable] = value
		}
		got := (command{env: env}).run(t, "config")
		if got.code != exit.OK {
			t.Errorf("%s: %s", name, got.errors)
		}
		for variable := range s.Environment {
			if !strings.Contains(got.out, "# $"+variable) {
				t.Errorf("%s: no setting has the variable %s in\n%s", name, variable, got.out)
			}
		}
		if s.Hostname != name || s.Environment["DOMTAP_CLUSTER_NODE"] != name || !strings.Contains(s.Environment["DOMTAP_CLUSTER_ROUTES"], s.Environment["DOMTAP_CLUSTER_ROUTE"]) {
			t.Errorf("%s is called %s, or its route is not among all routes: %v", name, s.Hostname, s.Environment)
		}
		for _, host := range []string{"LISTEN", "NATS", "ROUTE"} {
			if address := s.Environment["DOMTAP_CLUSTER_"+host]; !strings.HasPrefix(address, name+":") {
				t.Errorf("%s listens at %s", name, address)
			}
		}
		if _, err := os.Stat(filepath.Join(docker, s.Build.Context, s.Build.Dockerfile)); err != nil || s.Build.Args["TAGS"] != "cluster" {
			t.Errorf("%s is built with %v, %v", name, s.Build.Args, err)
		}
		if len(s.SecurityOpt) != 1 || s.SecurityOpt[0] != "seccomp=./seccomp.json" || len(s.Ports) != 1 || ports[s.Ports[0]] {
			t.Errorf("%s has %v and %v", name, s.SecurityOpt, s.Ports)
		}
		ports[s.Ports[0]] = true
	}
	if !strings.Contains(packaged(t, "docker/Dockerfile"), "ARG TAGS") {
		t.Error("the Dockerfile does not know the argument TAGS")
	}
}

// Settings that documents mention in text, or in blocks that need a cluster, must exist.
func TestTheSettingsOfClustersInDocumentsExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	cmd, _, err := newRoot(newApp(environment(nil), nil, nil, nil)).Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, m := range regexp.MustCompile(`(?:--|DOMTAP_)((?:cluster|nats|CLUSTER|NATS)[-_a-zA-Z]*)`).FindAllStringSubmatch(string(text), -1) {
		flags++
		if name := strings.ToLower(strings.ReplaceAll(m[1], "_", "-")); cmd.Flags().Lookup(name) == nil {
			t.Errorf("docs/cluster.md names %s, and serve has no --%s", m[0], name)
		}
	}
	commands := regexp.MustCompile("`domtap ([^`]*)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range commands {
		checkLine(t, "docs/cluster.md", strings.Fields(m[1]))
	}
	if len(commands) < 5 {
		t.Errorf("only %d commands were found", len(commands))
	}
	if flags < 20 {
		t.Errorf("only %d settings were found", flags)
	}
}
