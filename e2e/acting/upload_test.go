package acting

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/actions/uploads"
	"github.com/domtap/domtap/internal/testenv"
)

func upload(at *domtapv1.Target, paths []string, files ...*domtapv1.UploadFile) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: at, Paths: paths, Files: files}}}
}

// TestUploads passes files to inputs, to labels of hidden inputs, and to buttons that open a file chooser.
func TestUploads(t *testing.T) {
	t.Parallel()
	allowed, secret := t.TempDir(), t.TempDir()
	write := func(dir, name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	photo, key := write(allowed, "photo.txt", "from a path"), write(secret, "key", "secret")
	link := filepath.Join(allowed, "link")
	if err := os.Symlink(key, link); err != nil {
		t.Fatal(err)
	}
	policy, err := uploads.New([]string{allowed})
	if err != nil {
		t.Fatal(err)
	}
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": html(`<input type=file aria-label=Plain id=a><label>Pick<input type=file multiple style="display:none" id=b></label>
		<input type=file style="display:none" id=c><button onclick="setTimeout(() => c.click(), 50)">Choose</button><button>Nothing</button><input type=file disabled aria-label=Off>
		<script>text = (i) => Promise.all([...i.files].map(async (f) => f.name + "=" + await f.text()))
			log = []; for (const type of ["input", "change"]) addEventListener(type, (e) => log.push(e.target.id + type))</script>`)})
	testenv.InOneSession(t, testenv.StartConfigured(t, server.Config{Uploads: policy}), func(t *testing.T, d *testenv.Daemon) {
		s := &stage{t: t, d: d, tab: d.Open(url)}
		inline := &domtapv1.UploadFile{Name: "note.txt", Content: []byte("inline")}

		s.do(upload(s.at("Plain"), []string{photo}))
		s.is("text(a)", "photo.txt=from a path")
		s.do(upload(s.at("Plain"), nil, inline))
		s.is("text(a)", "note.txt=inline")
		s.do(upload(s.at("Pick"), []string{photo}, inline, inline))
		s.is("text(b)", "photo.txt=from a path,note.txt=inline,note.txt=inline")
		s.do(upload(s.at("Choose"), []string{photo}))
		s.is("text(c)", "photo.txt=from a path")
		s.is("log.join()", "ainput,achange,ainput,achange,binput,bchange,cinput,cchange")

		s.refused(upload(s.at("Plain"), []string{photo}, inline), "NOT_ACTIONABLE", "one file")
		s.refused(upload(s.at("Off"), []string{photo}), "NOT_ACTIONABLE", "disabled")
		s.refused(upload(s.at("Nothing"), []string{photo}), "NOT_ACTIONABLE", "no file chooser")
		s.refused(upload(s.at("Plain"), []string{key}), "UPLOAD_POLICY", "--upload-dir")
		s.refused(upload(s.at("Plain"), []string{link}), "UPLOAD_POLICY", "--upload-dir")
		s.refused(upload(s.at("Plain"), []string{filepath.Join(allowed, "..", filepath.Base(secret), "key")}), "UPLOAD_POLICY")
		s.refused(upload(s.at("Plain"), []string{filepath.Join(allowed, "missing")}), "INVALID", "no such file")
		s.refused(upload(s.at("Plain"), []string{"photo.txt"}), "INVALID", "absolute")
		s.refused(upload(s.at("Plain"), nil, &domtapv1.UploadFile{Name: "../x"}), "INVALID", "without a path")
	})
}

// TestFilesAreDropped passes files to elements that accept them only by a drop, and to elements that accept none.
func TestFilesAreDropped(t *testing.T) {
	d, url := framed(t, map[string]string{
		"/": `<div id=zone style="padding:20px">Drop here</div><div id=deaf style="padding:20px">Deaf zone</div><iframe src="OTHER/inner"></iframe>
			<button onclick="setTimeout(() => { const i = document.createElement('input'); i.type = 'file'; i.accept = 'image/*'; i.onchange = () => log.push('chosen ' + i.files[0].name); i.click() }, 50)">Choose</button>
			<script>log = []; onmessage = (e) => log.push(e.data); zone.ondragover = (e) => e.preventDefault()
			zone.ondrop = async (e) => { e.preventDefault(); for (const f of [...e.dataTransfer.files]) { log.push(f.name + "=" + await f.text() + e.isTrusted); zone.append(f.name) } }
			deaf.ondrop = () => log.push("deaf")</script>`,
		"/inner": `<div id=zone style="padding:20px">Inner zone</div><script>zone.ondragover = (e) => e.preventDefault()
			zone.ondrop = async (e) => { e.stopPropagation(); e.preventDefault(); const f = e.dataTransfer.files[0]; zone.append(f.name); top.postMessage("inner " + await f.text(), "*") }</script>`,
	})
	s := &stage{t: t, d: d, tab: d.Open(url)}
	note, more := &domtapv1.UploadFile{Name: "note.txt", Content: []byte("inline")}, &domtapv1.UploadFile{Name: "more.txt", Content: []byte("2")}
	soon := func(expression string) string {
		return "(async () => { while (!(" + expression + ")) await new Promise((r) => setTimeout(r, 10)); return true })()"
	}
	by := func(text string) *domtapv1.Target { return &domtapv1.Target{Text: text} }
	s.is("typeof showOpenFilePicker", "undefined") // nothing could answer this chooser
	s.do(upload(by("Drop here"), nil, note, more))
	s.is(soon(`log.join() === "note.txt=inlinetrue,more.txt=2true"`), "true")
	s.do(upload(by("Inner zone"), nil, note))
	s.is(soon(`log.at(-1) === "inner inline"`), "true")
	s.refused(upload(by("Deaf zone"), nil, note), "NOT_ACTIONABLE", "cannot be dropped")
	s.is("log.includes('deaf')", "false")
	said := s.do(upload(s.at("Choose"), nil, note))
	s.is(soon(`log.at(-1) === "chosen note.txt"`), "true")
	if !strings.Contains(said, `ok, although it asks for image/* and "note.txt" is another type`) {
		t.Errorf("the mismatch is not said: %s", said)
	}
}

// TestFilesAreDroppedOnWhatTakesThem drops files on a page that prevents the browser's default everywhere, as many pages do to keep the
// document. Only the zones there take files: by showing them, or with a request. The page highlights itself during a drag.
func TestFilesAreDroppedOnWhatTakesThem(t *testing.T) {
	s := staged(t, `<h1>Files</h1><div id=zone style="padding:20px">Drop here</div><div id=silent style="padding:20px">Silent zone</div><input type=file id=file hidden><div id=kept style="padding:20px">Kept zone</div>
		<script>for (const type of ["dragenter", "dragover", "drop"]) addEventListener(type, (e) => { e.preventDefault(); document.querySelector("h1").textContent = type === "drop" ? "Files" : "Let go" })
		zone.ondrop = (e) => zone.append(e.dataTransfer.files[0].name); silent.ondrop = () => fetch("/sent"); kept.ondrop = (e) => file.files = e.dataTransfer.files</script>`)
	note := &domtapv1.UploadFile{Name: "note.txt", Content: []byte("inline")}
	by := func(text string) *domtapv1.Target { return &domtapv1.Target{Text: text} }
	if r, err := s.try(t.Context(), upload(by("Files"), nil, note)); err != nil || r.GetOk() || !strings.Contains(r.GetError(), "nothing on the page changed") {
		t.Errorf("a drop on a heading: %v, %v", r, err)
	}
	for _, zone := range []string{"Drop here", "Silent zone", "Kept zone"} {
		if said := s.do(upload(by(zone), nil, note)); !strings.HasSuffix(said, ": ok, dropped on it") {
			t.Errorf("%s: %s", zone, said)
		}
	}
}

// TestUploadsInFrames passes files to elements in a frame of another site.
func TestUploadsInFrames(t *testing.T) {
	d, url := framed(t, map[string]string{
		"/inner": `<input type=file aria-label=Plain><input type=file style="display:none" id=c><button onclick="c.click()">Choose</button><script>
			for (const i of document.querySelectorAll("input")) i.onchange = async () => top.postMessage(i.files[0].name + "=" + await i.files[0].text(), "*")</script>`,
		"/": `<iframe src="OTHER/inner"></iframe><script>heard = new Promise((done) => onmessage = (e) => done(e.data))</script>`,
	})
	for _, name := range []string{"Plain", "Choose"} {
		s := &stage{t: t, d: d, tab: d.Open(url)}
		s.do(upload(s.at(name), nil, &domtapv1.UploadFile{Name: "note.txt", Content: []byte("inline")}))
		s.is("heard", "note.txt=inline")
	}
}
