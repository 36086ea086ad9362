package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/testenv"
)

// program builds domtap once for all tests that run it, and returns its path. It uses the race detector if the tests do.
var program = sync.OnceValues(func() (string, error) { return built(hasRaceDetector()) })

// plainProgram returns a program without the race detector, which triples the time to start a command. It is for tests of the output of
// many commands. make test has built it.
var plainProgram = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("DOMTAP_PROGRAM"); path != "" {
		return path, nil
	}
	return built(false)
})

func built(race bool) (string, error) {
	dir, err := compiled(".", "-race="+strconv.FormatBool(race), ".")
	return filepath.Join(dir, "domtap"), err
}

// compiled runs go build in a directory and returns the new directory that contains the program.
func compiled(in string, args ...string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "domtap-bin"); err != nil {
		return "", err
	}
	programDirs = append(programDirs, dir)
	build := exec.Command("go", append([]string{"build", "-o", dir}, args...)...)
	build.Dir = in
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", args[len(args)-1], err, text)
	}
	return dir, nil
}

// hasRaceDetector reports whether this test was built with -race. The daemon is then built with it, too.
func hasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// programDirs lists the directories that TestMain removes at the end.
var programDirs []string

func TestMain(m *testing.M) {
	if _, set := os.LookupEnv("GORACE"); !set { // a program with the race detector sleeps for a second before it exits
		_ = os.Setenv("GORACE", "atexit_sleep_ms=10")
	}
	code := m.Run()
	for _, dir := range programDirs {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// needProgram returns the built program. It skips the test if no browser is installed.
func needProgram(t *testing.T) string {
	t.Helper()
	return need(t, program)
}

// needPlainProgram returns the program without the race detector. It skips the test if no browser is installed.
func needPlainProgram(t *testing.T) string {
	t.Helper()
	return need(t, plainProgram)
}

func need(t *testing.T, program func() (string, error)) string {
	t.Helper()
	testenv.NeedBrowser(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestScripts runs the transcripts of testdata/script: command lines against a real daemon with a real browser. Each script has a separate
// daemon. The files of a script's archive are served at $SITE. UPDATE_SCRIPTS=1 rewrites the expected output.
func TestScripts(t *testing.T) {
	checked, plain := needProgram(t), needPlainProgram(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			switch filepath.Base(env.WorkDir) {
			case "script-daemon", "script-web": // scripts about the start and end of the daemon, and about all that it serves
				return setupScript(env, checked)
			}
			return setupScript(env, plain) // many consecutive commands, whose calls other tests make with the race detector
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    scriptExits,
			"freeport": scriptFreePort,
			"ref":      scriptRef,
			"crash":    scriptCrash,
			"serving":  scriptServing,
			"scrape":   scriptScrape,
		},
	})
}

func setupScript(env *testscript.Env, path string) error {
	state, err := os.MkdirTemp("", "dt")
	if err != nil {
		return err
	}
	site := httptest.NewServer(siteHandler(env.WorkDir))
	env.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+env.Getenv("PATH"))
	env.Setenv("DOMTAP_STATE_DIR", state)
	env.Setenv("HOME", state)
	env.Setenv("SITE", site.URL)
	env.Setenv("GORACE", os.Getenv("GORACE"))
	for _, name := range []string{"DOMTAP_CHROME", "DOMTAP_CHROME_FLAG"} {
		if value, set := os.LookupEnv(name); set {
			env.Setenv(name, value)
		}
	}
	env.Defer(func() {
		defer func() { _ = os.RemoveAll(state) }()
		defer site.Close()
		defer site.CloseClientConnections()
		stop := exec.Command(path, "stop")
		stop.Env = []string{"DOMTAP_STATE_DIR=" + state}
		if text, err := stop.CombinedOutput(); err != nil {
			env.T().Fatal(fmt.Sprintf("domtap stop: %v\n%s", err, text))
		}
		if log, _ := os.ReadFile(filepath.Join(state, "daemon.log")); bytes.Contains(log, []byte("DATA RACE")) {
			env.T().Fatal(string(log))
		}
	})
	return nil
}

// siteHandler serves a script's files and a page that never finishes loading.
func siteHandler(dir string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Never</title><button>Early</button><img src=/never>"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	return mux
}

// scriptExits runs a command that must end with an exit code: exits 3 domtap compact
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptFreePort sets a variable to a free TCP port: freeport PORT
func scriptFreePort(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], port)
}

// scriptRef sets a variable to the ref of the element with a name: ref VARIABLE NAME
func scriptRef(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("domtap", "compact"))
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		ref, rest, found := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		if found && strings.HasPrefix(rest, args[1]+" (") {
			ts.Setenv(args[0], ref)
			return
		}
	}
	ts.Fatalf("no element is named %q", args[1])
}

// scriptServing waits until the script's daemon, or the server on another socket, serves: serving [SOCKET]
func scriptServing(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), endpoint.StartLimit)
	defer cancel()
	socket := filepath.Join(ts.Getenv("DOMTAP_STATE_DIR"), "domtap.sock")
	if len(args) > 0 {
		socket = args[0]
	}
	ts.Check(endpoint.AwaitServing(ctx, endpoint.Target{Socket: socket}, endpoint.Options{}))
}

// scriptScrape downloads a URL to a file: scrape FILE URL
func scriptScrape(ts *testscript.TestScript, _ bool, args []string) {
	r, err := http.Get(args[1])
	ts.Check(err)
	text, err := io.ReadAll(r.Body)
	ts.Check(errors.Join(err, r.Body.Close()))
	if r.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s", args[1], r.Status)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

// scriptCrash kills the daemon without warning.
func scriptCrash(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(ts.Exec("domtap", "doctor"))
	_, after, found := strings.Cut(ts.ReadFile("stdout"), "    process ")
	pid, err := strconv.Atoi(strings.Fields(after)[0])
	if !found || err != nil {
		ts.Fatalf("no daemon runs")
	}
	process, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(process.Kill())
	ts.Check(ts.Exec("domtap", "stop")) // returns when the daemon has ended
}

// ownEnv returns this process's environment without the settings of the developer's own daemon, but with their choice of a browser.
func ownEnv(state string) []string {
	env := []string{"DOMTAP_STATE_DIR=" + state}
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "DOMTAP_") || strings.HasPrefix(setting, "DOMTAP_CHROME") {
			env = append(env, setting)
		}
	}
	return env
}

// instanceOf returns a function that creates commands of a separate instance. The instance is stopped when the test ends.
func instanceOf(t *testing.T, path string) func(args ...string) *exec.Cmd {
	t.Helper()
	env := ownEnv(shortDir(t))
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Env = env
		return cmd
	}
	t.Cleanup(func() {
		if text, err := command("stop").CombinedOutput(); err != nil {
			t.Errorf("domtap stop: %v: %s", err, text)
		}
	})
	return command
}

func mustRun(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args[1:], err, text)
	}
}

func TestHowAWatchEnds(t *testing.T) {
	command := instanceOf(t, needProgram(t))
	for name, end := range map[string]func(*exec.Cmd){
		"Ctrl-C":     func(watch *exec.Cmd) { _ = watch.Process.Signal(os.Interrupt) },
		"SIGTERM":    func(watch *exec.Cmd) { _ = watch.Process.Signal(syscall.SIGTERM) },
		"closed tab": func(*exec.Cmd) { mustRun(t, command("close")) },
	} {
		mustRun(t, command("open", "data:text/html,<title>X</title>"))
		watch := command("watch")
		out, err := watch.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := watch.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); !strings.HasPrefix(line, "Watching: ") {
			t.Errorf("%s: the first line is %q, %v", name, line, err)
		}
		end(watch)
		if err := watch.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSignalsEndTheDaemon checks that one signal cleanly ends the daemon, its browser and its socket.
func TestSignalsEndTheDaemon(t *testing.T) {
	path := needProgram(t)
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		state := shortDir(t)
		serve := exec.Command(path, "serve", "--listen=")
		serve.Env = ownEnv(state)
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		socket := filepath.Join(state, "domtap.sock")
		if err := endpoint.AwaitServing(t.Context(), endpoint.Target{Socket: socket}, endpoint.Options{}); err != nil {
			t.Error(err)
		}
		_ = serve.Process.Signal(signal)
		if err := serve.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
		if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: the socket is still there", signal)
		}
		if left, err := os.ReadDir(filepath.Join(state, "browsers")); err != nil || len(left) > 0 {
			t.Errorf("%v: files of the browser are left: %v, %v", signal, left, err)
		}
	}
}

// browserOf returns the process of the browser that a daemon started, from the daemon's record of it.
func browserOf(t *testing.T, state string) *os.Process {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(state, "browsers", "*", "owner.json"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes of a browser: %v, %v", notes, err)
	}
	text, err := os.ReadFile(notes[0])
	if err != nil {
		t.Fatal(err)
	}
	var owner struct{ Browser struct{ PID int } }
	if err := json.Unmarshal(text, &owner); err != nil || owner.Browser.PID == 0 {
		t.Fatalf("%s: %v", text, err)
	}
	process, err := os.FindProcess(owner.Browser.PID)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

// TestADeadBrowserIsReportedAndReplaced kills the browser during a watch. The watch must report that, and the daemon must start another
// browser for the following commands.
func TestADeadBrowserIsReportedAndReplaced(t *testing.T) {
	path, state := needProgram(t), shortDir(t)
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Env = ownEnv(state)
		return cmd
	}
	defer func() { mustRun(t, command("stop")) }()
	mustRun(t, command("open", "data:text/html,<title>X</title>"))
	watch := command("watch")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	daemon := daemonOf(t, command)
	if err := browserOf(t, state).Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines)
	if err := watch.Wait(); watch.ProcessState.ExitCode() != exit.Unavailable {
		t.Errorf("the watch ended with %v, want exit code %d", err, exit.Unavailable)
	}
	if text, err := command("tabs", "-o", "json").CombinedOutput(); err != nil || len(text) > 0 {
		t.Errorf("the tabs are %q, %v", text, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		text, err := command("open", "data:text/html,<title>Y</title>").CombinedOutput()
		if err == nil {
			break
		}
		if !strings.Contains(string(text), "try again in") || ctx.Err() != nil {
			t.Fatalf("opening a tab: %v: %s", err, text)
		}
	}
	if again := daemonOf(t, command); again != daemon {
		t.Errorf("the daemon is process %s, and was %s", again, daemon)
	}
}

// daemonOf returns the process ID of the running daemon.
func daemonOf(t *testing.T, command func(...string) *exec.Cmd) string {
	t.Helper()
	text, err := command("doctor").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "process ")
	pid, _, _ := strings.Cut(after, " ")
	if !found {
		t.Fatalf("no daemon runs: %s", text)
	}
	return pid
}
