package clients

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

const (
	scriptSecret = "pw-canary-'2718"
	// scriptButton is a name that tries to escape from its quotes.
	scriptButton = "It's `done` \"$(touch pwned)\" \\ now"
	scriptLogin  = `<!doctype html><meta charset=utf-8><title>Sign in</title><link rel=icon href="data:,">
<form id=f><label>Email <input name=user></label><label>Password <input name=pass type=password></label><button>Sign in</button></form>
<script>f.onsubmit = async e => {
  e.preventDefault()
  await fetch("/did", {method: "POST", body: "login " + f.user.value + " " + f.pass.value})
  location.href = "/orders"
}</script>`
	scriptOrders = `<!doctype html><meta charset=utf-8><title>Orders</title><link rel=icon href="data:,"><h1>Your orders</h1>
<table><tr><td>1001</td><td>Ada Lovelace</td><td><button>Cancel</button></td></tr>
<tr><td>1002</td><td>Grace Hopper</td><td><button>Cancel</button></td></tr>
<tr><td>1003</td><td>Alan Turing</td><td><button>Cancel</button></td></tr></table>
<label>Country <select id=country><option>Denmark</option><option>Norway</option><option>Sweden</option></select></label>
<label><input type=checkbox id=gift> Gift</label>
<label>Note <input id=note></label><button id=all>Delete all</button><button id=odd hidden></button><p role=status id=said></p>
<script>
const did = async what => { await fetch("/did", {method: "POST", body: what}); said.textContent = "Did " + what }
for (const b of document.querySelectorAll("td button")) b.onclick = () => did("cancel " + b.closest("tr").cells[0].textContent)
country.onchange = () => did("country " + country.value)
gift.onchange = () => did("gift " + gift.checked)
note.onkeydown = e => { if (e.key === "Enter") did("note " + note.value) }
all.onclick = async () => { await did("delete " + confirm("Delete all?")); odd.hidden = false }
odd.textContent = ` + "\"It's `done` \\\"$(touch pwned)\\\" \\\\ now\"" + `
odd.onclick = () => did("odd")
</script>`
)

// received records the requests that the server of a page received.
type received struct {
	mu  sync.Mutex
	all []string
}

func (r *received) add(w http.ResponseWriter, q *http.Request) {
	text, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, string(text))
	w.WriteHeader(http.StatusNoContent)
}

// take returns the recorded requests and clears them.
func (r *received) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// A recording of clients that use refs is converted to a shell script and a Go test. Both must have the same effect with another daemon.
// make test-long runs the Go test.
func TestProgramsOfARecordingDoTheSame(t *testing.T) {
	testenv.NeedBrowser(t)
	var server received
	page := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(scriptLogin), "/orders": testenv.HTML(scriptOrders), "/did": server.add})
	d := onDemand(t)
	file := recordOrders(t, d, page+"/")
	want := server.take()
	if len(want) != 7 || want[0] != "login ada@example.org "+scriptSecret || !slices.Contains(want, "cancel 1002") {
		t.Fatalf("the page was told %q", want)
	}
	d.command("stop")
	t.Setenv("INPUT_PASSWORD", scriptSecret)
	dir := t.TempDir()

	shell := output(t, exec.Command(d.program, "replay", file, "--script"))
	same := func(name string, run *exec.Cmd, program string) {
		t.Helper()
		run.Dir = dir
		text, err := run.CombinedOutput()
		if got := server.take(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, and the page was told %q and not %q\n%s\n%s", name, err, got, want, text, program)
		}
		if strings.Contains(program, scriptSecret) {
			t.Errorf("the secret is in %s", name)
		}
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Errorf("%s: a name of the page was run", name)
		}
	}
	write(t, filepath.Join(dir, "orders.sh"), shell)
	same("the script", exec.Command("sh", "orders.sh"), shell)
	if !strings.Contains(shell, "--within 'Grace Hopper'") && !strings.Contains(shell, "--within '1002") {
		t.Errorf("no row is named:\n%s", shell)
	}

	if !testenv.Long() {
		return
	}
	goTest := output(t, exec.Command(d.program, "replay", file, "--go-test"))
	testModule(t, dir)
	write(t, filepath.Join(dir, "orders_test.go"), goTest)
	if unformatted := output(t, exec.Command("gofmt", "-l", dir)); unformatted != "" {
		t.Errorf("gofmt changes %s", unformatted)
	}
	compiles(t, dir)
	d.command("stop")
	same("the Go test", exec.Command("go", "test", "-mod=mod", "-count=1", "."), goTest)
}

// recordOrders records a user who signs in and processes orders by refs, and returns the file.
func recordOrders(t *testing.T, d *daemons, url string) string {
	t.Helper()
	ctx := testenv.Within(t, 2*testenv.Patience)
	d.command("record", "start", "--all")
	c, err := client.Connect(ctx, client.Options{StateDir: d.state, Start: true, Program: d.program})
	must(t, err)
	defer func() { _ = c.Close() }()
	tab, err := c.Open(ctx, url)
	must(t, err)
	ref := func(role, name string, nth int) *domtapv1.Target {
		t.Helper()
		all, err := c.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab.ID()})
		must(t, err)
		for _, e := range all.GetElements() {
			if e.GetRole() == role && e.GetText() == name {
				if nth--; nth < 0 {
					return client.Ref(e.GetRef())
				}
			}
		}
		t.Fatalf("no %s %q in %v", role, name, all.GetElements())
		return nil
	}
	act := func(steps ...*domtapv1.Step) {
		t.Helper()
		_, err := tab.Act(ctx, steps...)
		must(t, err)
	}
	act(client.Fill(ref("textbox", "Email", 0), "ada@example.org"), client.Fill(ref("textbox", "Password", 0), scriptSecret))
	act(client.Click(ref("button", "Sign in", 0)))
	_, err = tab.Wait(ctx, client.ForText("Your orders"))
	must(t, err)
	if _, err := tab.Act(ctx, client.Click(client.Named("button", "Not there"))); err == nil {
		t.Error("a button that is not there was clicked")
	}
	act(client.Click(ref("button", "Cancel", 1)))
	act(client.Select(ref("combobox", "Country", 0), "Norway"))
	_, err = c.Actions.FillForm(ctx, &domtapv1.FillFormRequest{TabId: tab.ID(), Fields: []*domtapv1.FormField{{Label: "Gift", Value: "true"}}})
	must(t, err)
	note := client.Type(ref("textbox", "Note", 0), "two words")
	note.GetType().Submit = true
	act(note)
	act(client.Click(ref("button", "Delete all", 0)))
	_, err = tab.DismissDialog(ctx)
	must(t, err)
	_, err = tab.Wait(ctx, client.ForElement("button", scriptButton))
	must(t, err)
	act(client.Click(ref("button", scriptButton, 0)))
	d.command("record", "stop", "--all")
	files, err := filepath.Glob(filepath.Join(d.state, "recordings", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("recorded %q, %v", files, err)
	}
	return files[0]
}

// compiles compiles the Go tests in the archives of package script, which contain more kinds of steps, without running them.
func compiles(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob("../../internal/recording/script/testdata/*.txtar")
	must(t, err)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		must(t, err)
		for _, section := range archive.Files {
			if section.Name == "go-test" {
				in := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".txtar"))
				must(t, os.Mkdir(in, 0o700))
				write(t, filepath.Join(in, "recording_test.go"), string(section.Data))
			}
		}
	}
	vet := exec.Command("go", "vet", "-mod=mod", "./...")
	vet.Dir = dir
	if text, err := vet.CombinedOutput(); err != nil || len(files) == 0 {
		t.Errorf("%v\n%s", err, text)
	}
}

// testModule creates a module that needs package client of this repository, and no network.
func testModule(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	must(t, err)
	write(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module orders.example\n\ngo 1.26.0\n\nrequire github.com/domtap/domtap v0.0.0\n\nreplace github.com/domtap/domtap => %s\n", root))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	must(t, err)
	write(t, filepath.Join(dir, "go.sum"), string(sums))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
