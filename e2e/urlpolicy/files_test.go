package urlpolicy

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/folders"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/testenv"
)

// canary is in a file that must not be readable.
const canary = "c4n4ry-of-a-file"

// hostileFile is a file in an allowed directory that tries to access another file in every way that a page can.
const hostileFile = `<!doctype html><title>Hostile</title><h1>Hostile</h1><iframe src="%[1]s"></iframe><iframe src="%[3]s"></iframe><object data="%[1]s"></object><embed src="%[1]s"><img src="%[1]s">
<script src="%[2]s"></script><link rel=stylesheet href="%[1]s"><a href="%[1]s">Go</a><a href="%[1]s" target=_blank>Window</a><a href="%[1]s" download=x.txt>Keep</a>
<iframe src="%[4]s" title=neighbour></iframe>
<p id=said></p><script>
const say = text => { said.textContent += text + ' ' }
fetch("%[1]s").then(r => r.text()).then(say, () => say('fetch-failed'))
const x = new XMLHttpRequest(); x.onload = () => say(x.responseText); x.onerror = () => say('xhr-failed'); try { x.open('GET', "%[1]s"); x.send() } catch (e) { say('xhr-failed') }
const w = new Worker(URL.createObjectURL(new Blob(['try { importScripts("%[2]s"); postMessage(self.leak) } catch (e) { postMessage("import-failed") }'])));
w.onmessage = e => say(e.data)
</script>`

// filesStage is a daemon that may open the files of one directory.
type filesStage struct {
	*testenv.Daemon
	t *testing.T
	// secret and script are URLs of files outside the directory.
	dir, secret, script string
}

func playFiles(t *testing.T) *filesStage {
	t.Helper()
	root := t.TempDir()
	s := &filesStage{t: t, dir: filepath.Join(root, "allowed")}
	for _, dir := range []string{s.dir, filepath.Join(root, "allowed", "sub")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.write("../secret.txt", canary)
	s.write("../secret.js", fmt.Sprintf("self.leak = %q; if (self.document) document.title = %[1]q", canary))
	s.write("neighbour.html", "<!doctype html><button>The neighbour</button>")
	if err := os.Symlink(filepath.Join(root, "secret.txt"), filepath.Join(s.dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	s.secret, s.script = fileURL(filepath.Join(root, "secret.txt")), fileURL(filepath.Join(root, "secret.js"))
	s.write("hostile.html", fmt.Sprintf(hostileFile, s.secret, s.script, s.at("link.txt"), s.at("neighbour.html")))
	files, err := folders.New([]string{s.dir})
	if err != nil {
		t.Fatal(err)
	}
	allow := rules.AllowURLIn(files)
	s.Daemon = testenv.StartWith(t, tabpool.Config{AllowURL: allow}, server.Config{AllowEval: true}, browser.Config{AllowFile: allow})
	return s
}

func fileURL(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// at returns the URL of a file in the directory.
func (s *filesStage) at(name string) string { return fileURL(filepath.Join(s.dir, name)) }

func (s *filesStage) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// text returns the text of a tab, with all frames.
func (s *filesStage) text(tab string) string {
	s.t.Helper()
	got, err := s.Dom.GetCompact(testenv.Within(s.t, limit), &domtapv1.GetCompactRequest{TabId: tab, FullSnapshot: true, Format: domtapv1.Format_FORMAT_LINES})
	if err != nil {
		s.t.Fatal(err)
	}
	page, err := s.Pages.ReadPage(testenv.Within(s.t, limit), &domtapv1.ReadPageRequest{TabId: tab})
	if err != nil {
		s.t.Fatal(err)
	}
	return got.GetText() + page.String()
}

// waits waits for a text.
func (s *filesStage) waits(tab, text string) {
	s.t.Helper()
	if _, err := s.Dom.WaitFor(testenv.Within(s.t, limit), &domtapv1.WaitForRequest{TabId: tab, Until: &domtapv1.WaitCondition{Text: text}}); err != nil {
		s.t.Fatalf("%q: %v\n%s", text, err, s.text(tab))
	}
}

func TestFilesOfADirectoryAloneAreOpened(t *testing.T) {
	t.Parallel()
	s := playFiles(t)
	t.Run("clients name only these", func(t *testing.T) {
		for _, refused := range []string{s.secret, s.at("link.txt"), s.at("none"), s.at(""), s.at("sub"), s.at("../secret.txt"), "view-source:" + s.at("neighbour.html")} {
			_, err := s.Tabs.OpenTab(testenv.Within(t, limit), &domtapv1.OpenTabRequest{Url: refused})
			if status.Code(err) != codes.PermissionDenied || strings.Contains(fmt.Sprint(err), "secret") {
				t.Errorf("%s: %v", refused, err)
			}
		}
	})
	t.Run("a file reaches its neighbours and nothing else", func(t *testing.T) { s.t = t; s.reachesNeighbours() })
	t.Run("a page of the web reaches none", func(t *testing.T) { s.t = t; s.reachesNone() })
}

func (s *filesStage) reachesNeighbours() {
	tab := s.For(s.t).Open(s.at("hostile.html"))
	for _, said := range []string{"The neighbour", "fetch-failed", "xhr-failed", "import-failed"} {
		s.waits(tab, said)
	}
	for _, name := range []string{"Go", "Window", "Keep"} {
		// The click may fail, because its navigation does.
		got, err := s.Actions.Interact(testenv.Within(s.t, limit), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: name}}}}}})
		s.t.Logf("%s: %v %v", name, got.GetResults(), err)
		if strings.Contains(fmt.Sprint(got, err), canary) {
			s.t.Errorf("%s leads to the secret: %v %v", name, got, err)
		}
		if name == "Go" {
			tab = s.For(s.t).Show(tab, s.at("hostile.html"))
			s.waits(tab, "import-failed")
		}
	}
	tabs, err := s.Tabs.ListTabs(testenv.Within(s.t, limit), new(domtapv1.ListTabsRequest))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range tabs.GetTabs() {
		if text := s.text(one.GetId()); strings.Contains(text, canary) {
			s.t.Errorf("tab %s shows the secret:\n%s", one.GetUrl(), text)
		}
	}
	downloads, err := s.Sessions.ListDownloads(testenv.Within(s.t, limit), &domtapv1.ListDownloadsRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range downloads.GetDownloads() {
		content, _ := os.ReadFile(one.GetPath()) // the file does not exist
		if strings.Contains(string(content), canary) || one.GetState() == domtapv1.DownloadState_DOWNLOAD_STATE_COMPLETED {
			s.t.Errorf("the secret was downloaded: %v", one)
		}
	}
	s.t.Log(downloads)
}

// reachesNone shows a page from a server that tries to access a file of the directory.
func (s *filesStage) reachesNone() {
	page := fmt.Sprintf(hostileFile, s.at("neighbour.html"), s.script, s.secret, s.at("neighbour.html"))
	tab := s.For(s.t).Open(testenv.Serve(s.t, testenv.HTML(page)))
	for _, said := range []string{"fetch-failed", "xhr-failed", "import-failed"} {
		s.waits(tab, said)
	}
	for _, name := range []string{"Go", "Window", "Keep"} {
		_, _ = s.Actions.Interact(testenv.Within(s.t, limit), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: name}}}}}})
	}
	for _, expression := range []string{"location = %q", "open(%q)"} {
		_, _ = s.Pages.Evaluate(testenv.Within(s.t, limit), &domtapv1.EvaluateRequest{TabId: tab, Expression: fmt.Sprintf(expression+", 1", s.at("neighbour.html"))})
	}
	tabs, err := s.Tabs.ListTabs(testenv.Within(s.t, limit), new(domtapv1.ListTabsRequest))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range tabs.GetTabs() {
		if strings.HasPrefix(one.GetUrl(), "file:") && one.GetId() == tab {
			s.t.Errorf("tab %s is at %s", one.GetId(), one.GetUrl())
		}
	}
	if text := s.text(tab); strings.Contains(text, "The neighbour") || strings.Contains(text, canary) {
		s.t.Errorf("a page of a server reads a file:\n%s", text)
	}
}
