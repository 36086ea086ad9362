package faults

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// smallDisk is the size of the disk. A profile takes about half of it.
const smallDisk = 48 << 20

// onSmallDisk puts the state directory on a separate disk that only the program's commands can see. The disk ends with the process that
// holds it.
func (p *installed) onSmallDisk() {
	p.t.Helper()
	holder := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size="$1",mode=700 tmpfs "$2" && echo mounted && exec cat`, "sh", strconv.Itoa(smallDisk), p.state)
	in, err := holder.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		p.t.Skipf("needs unshare (util-linux): %v", err)
	}
	p.leave = func() {
		_ = in.Close() // ends cat
		_ = holder.Wait()
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		p.t.Skipf("no disk can be mounted here, which takes a Linux and its root: %q, %v", line, err)
	}
	pid := strconv.Itoa(holder.Process.Pid)
	p.within, p.root = []string{"nsenter", "--mount", "--target", pid, "--"}, "/proc/"+pid+"/root"
}

// fill writes a file until the disk is full, and returns a function that frees the space.
func (p *installed) fill() (free func()) {
	p.t.Helper()
	path := filepath.Join(p.root, p.state, "ballast")
	f, err := os.Create(path)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, size := range []int{1 << 20, 4 << 10, 1} {
		for piece := make([]byte, size); err == nil; {
			_, err = f.Write(piece)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			p.t.Fatalf("filling the disk: %v", err)
		}
		err = nil
	}
	if err := f.Close(); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			p.t.Fatal(err)
		}
	}
}

// store has a page store two megabytes, and returns whether that succeeded.
const store = `() => new Promise(done => {
	const open = indexedDB.open("store", 1);
	open.onupgradeneeded = () => open.result.createObjectStore("all");
	open.onerror = () => done(false);
	open.onsuccess = () => {
		const put = open.result.transaction("all", "readwrite");
		put.objectStore("all").put(crypto.getRandomValues(new Uint8Array(65536)).toString().repeat(10), "one");
		put.oncomplete = () => done(true);
		put.onabort = put.onerror = () => done(false);
	};
})`

// TestAFullDiskLosesNothing fills the disk with the profile, the downloads and the journal while a daemon works. The daemon must continue,
// restart on the full disk after it was killed, and have its tabs when there is space again.
func TestAFullDiskLosesNothing(t *testing.T) {
	p := install(t)
	var fetched atomic.Int64
	handlers := site(&fetched)
	handlers["/file"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=large.bin")
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.CopyN(w, zeros{}, smallDisk/2)
	}
	url := testenv.Pages(t, handlers)
	p.onSmallDisk()
	daemon := p.served("--allow-eval")
	kept := p.run("open", "-q", url+"/counter", "--restore")
	p.awaitJournal(t, "/counter")

	free := p.fill()
	if got := p.run("eval", "--tab", kept, store); got != "false" {
		t.Errorf("a page could store two megabytes on a full disk: %s", got)
	}
	p.works(kept, 1)
	p.works(p.run("open", "-q", url+"/counter", "--restore"), 1) // the journal does not contain this tab
	p.run("eval", "--tab", kept, "location.href = '/file'")
	if got := p.download(); got.State != "DOWNLOAD_STATE_CANCELED" {
		t.Errorf("a download onto a full disk: %+v", got)
	}
	kill(t, daemon)
	p.wellFormed(t)

	daemon, log := p.start("--allow-eval")
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	select {
	case <-log.heard:
		t.Log("a daemon starts on a full disk")
		_ = daemon.Process.Kill()
		<-ended
	case err := <-ended:
		t.Logf("a daemon does not start on a full disk: %v: %s", err, log.text.String())
		if !strings.Contains(log.text.String(), "no space left") {
			t.Error("it does not say why")
		}
	case <-time.After(limit):
		t.Errorf("a daemon hangs on a full disk: %s", log.text.String())
		_ = daemon.Process.Kill()
		<-ended
	}
	p.wellFormed(t)

	free()
	daemon = p.served("--allow-eval")
	if now := p.tabs()[kept]; now.Status != "TAB_STATUS_READY" || now.URL != url+"/counter" {
		t.Errorf("with room again, the tab is %+v", now)
	}
	p.works(kept, 1)
	if got := p.run("eval", "--tab", kept, store); got != "true" {
		t.Errorf("with room again, a page could not store: %s", got)
	}
	p.run("stop")
	_ = daemon.Wait()
}

// works checks that the counter of a tab works.
func (p *installed) works(tab string, n int) {
	p.t.Helper()
	p.run("compact", "--tab", tab)
	p.run("eval", "--tab", tab, "count.click()")
	p.run("wait", "--tab", tab, "--text", fmt.Sprint("Count ", n))
}

// zeros is an endless stream of zero bytes.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

type downloadState struct{ State, Path string }

// download waits until the latest download has ended.
func (p *installed) download() (last downloadState) {
	p.t.Helper()
	for began := time.Now(); time.Since(began) < limit; {
		line, _, _ := strings.Cut(p.run("downloads", "-o", "json"), "\n")
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			p.t.Fatalf("%q: %v", line, err)
		}
		if last.State != "DOWNLOAD_STATE_IN_PROGRESS" {
			return last
		}
	}
	p.t.Fatalf("the download does not end: %+v", last)
	return last
}
