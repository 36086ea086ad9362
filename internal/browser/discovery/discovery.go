// Package discovery finds running browsers that allow debugging, without connecting to them.
//
// A browser that allows debugging writes the port and the path of its WebSocket to the file DevToolsActivePort in its profile folder. A
// browser that was started with --remote-debugging-port also answers HTTP requests at that port. A browser whose switch at
// chrome://inspect/#remote-debugging is on (Chrome 144 and later) answers no such request, and asks the user about every connection to its
// WebSocket. Discovery therefore never opens a WebSocket. It reads files and sends one HTTP request to each port.
//
// The file remains after a crash, and another program may use the port then. A browser counts as found only if its port answers. If it
// answers HTTP requests, it must name the same path.
//
// The package depends on the system only through the fields of Finder, so that tests can simulate each system.
package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/domtap/domtap/internal/truncate"
)

// Finder finds browsers on one machine.
type Finder struct {
	// Folders lists the profile folders to look at. Ports lists the ports that browsers without a known folder usually listen on.
	Folders []Folder
	Ports   []int
	// ReadFile and Stat do what os.ReadFile and os.Stat do.
	ReadFile func(path string) ([]byte, error)
	Stat     func(path string) (fs.FileInfo, error)
	// Dial connects to a TCP address on loopback.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// usualPorts are the ports that instructions for remote debugging name most often.
var usualPorts = []int{9222, 9223, 9224, 9225}

// ForThisMachine returns a Finder for the browsers of the current user.
func ForThisMachine(env func(string) string) *Finder {
	f := &Finder{
		Ports: usualPorts, ReadFile: os.ReadFile, Stat: os.Stat, Dial: new(net.Dialer).DialContext,
	}
	if home, err := os.UserHomeDir(); err == nil {
		f.Folders = Folders(runtime.GOOS, home, env)
	}
	return f
}

// unnamed returns the Folder for a path that the user named.
func unnamed(path string) Folder {
	return Folder{Product: "the browser", Scheme: "chrome", Path: strings.TrimRight(path, `/\`)}
}

// Browser is a running browser that allows debugging.
type Browser struct {
	// Folder is the browser's profile folder. It is the zero value for a browser that was found only by its port.
	Folder Folder
	// Address is the WebSocket URL of the browser.
	Address string
	// Version is the version that the browser reports, such as "Chrome/156.0.8078.79". It is empty if the browser asks the user.
	Version string
	// Asks reports whether the browser asks the user about each connection.
	Asks bool
	// choice is the text that selects this browser in Choose. host is the host and the port of Address, and written is when the browser
	// wrote them to its folder.
	choice, host string
	written      time.Time
}

// Choice returns the text that selects this browser among the browsers that were found.
func (b Browser) Choice() string { return b.choice }

// String describes the browser in a few words.
func (b Browser) String() string {
	words := b.Folder.Product
	if words == "" || b.Folder.Name == "" {
		words = "a browser"
	}
	if b.Version != "" {
		words += " (" + b.Version + ")"
	}
	words += " at " + b.host
	if b.Folder.Path != "" {
		words += ", profile folder " + b.Folder.Path
	}
	if b.Asks {
		words += ", which asks for permission in its window"
	}
	return words
}

// Result is the outcome of a search.
type Result struct {
	Found []Browser
	// Stale lists the folders whose file names a port that no longer belongs to their browser.
	Stale []Folder
	// Installed lists the folders that exist. The first of each product comes first.
	Installed []Folder
	// Looked is the number of folders that were looked at. Ports are the ports that were tried.
	Looked int
	Ports  []int
}

const (
	// answerLimit limits how long a port may take to answer.
	answerLimit = 2 * time.Second
	// maxAnswer limits the size of an answer, in bytes.
	maxAnswer = 1 << 16
	// maxVersion limits the version in an answer, in characters.
	maxVersion = 100
)

// Find looks for browsers in all folders and at all ports. It takes at most two seconds for each address of a port; ports are tried at the
// same time.
func (f *Finder) Find(ctx context.Context) Result {
	r := Result{Looked: len(f.Folders), Ports: f.Ports}
	found, stale := make([]*Browser, len(f.Folders)), make([]bool, len(f.Folders))
	byPort := make([]*Browser, len(f.Ports))
	var wg sync.WaitGroup
	for i, folder := range f.Folders {
		wg.Go(func() { found[i], stale[i] = f.inFolder(ctx, folder) })
	}
	for i, port := range f.Ports {
		wg.Go(func() { byPort[i] = f.atPort(ctx, port) })
	}
	wg.Wait()
	for i, folder := range f.Folders {
		if info, err := f.Stat(folder.Path); err == nil && info.IsDir() {
			r.Installed = append(r.Installed, folder)
		}
		if stale[i] {
			r.Stale = append(r.Stale, folder)
		}
		r.add(found[i])
	}
	for _, b := range byPort {
		r.add(b)
	}
	r.setChoices()
	return r
}

// add adds a browser, unless its port is of a browser that was found already. Only one browser can have a port. If several folders name the
// port of a browser that asks the user, the folder that was written last is the one in use.
func (r *Result) add(b *Browser) {
	if b == nil {
		return
	}
	i := slices.IndexFunc(r.Found, func(other Browser) bool { return other.host == b.host })
	switch {
	case i < 0:
		r.Found = append(r.Found, *b)
	case b.written.After(r.Found[i].written):
		r.Stale = append(r.Stale, r.Found[i].Folder)
		r.Found[i] = *b
	case b.Folder.Path != "":
		r.Stale = append(r.Stale, b.Folder)
	}
}

// setChoices sets the text that selects each browser: its name, or its folder if another one has that name, or its address.
func (r *Result) setChoices() {
	names := map[string]int{}
	for _, b := range r.Found {
		names[b.Folder.Name]++
	}
	for i := range r.Found {
		b := &r.Found[i]
		switch {
		case b.Folder.Path == "":
			b.choice = "http://" + b.host
		case b.Folder.Name == "" || names[b.Folder.Name] > 1:
			b.choice = b.Folder.Path
		default:
			b.choice = b.Folder.Name
		}
	}
}

// inFolder returns the browser that runs with a profile folder, or nil. It reports whether the folder names a browser that has ended.
func (f *Finder) inFolder(ctx context.Context, folder Folder) (b *Browser, stale bool) {
	separator := "/"
	if strings.Contains(folder.Path, `\`) {
		separator = `\`
	}
	file := folder.Path + separator + "DevToolsActivePort"
	raw, err := f.ReadFile(file)
	if err != nil {
		return nil, false
	}
	port, path, ok := parse(raw)
	if !ok {
		return nil, true // the browser ended while it wrote the file, or writes it just now
	}
	a, ok := f.ask(ctx, port)
	switch {
	case !ok || a.path != "" && a.path != path:
		return nil, true
	case a.path == "" && a.status != http.StatusNotFound:
		return nil, true // another program answers at the port
	}
	b = &Browser{Folder: folder, Address: "ws://" + a.host + path, Version: a.version, Asks: a.path == "", host: a.host}
	if info, err := f.Stat(file); err == nil {
		b.written = info.ModTime()
	}
	return b, false
}

// parse reads the content of DevToolsActivePort: a port, and on the next line a path.
func parse(raw []byte) (port int, path string, ok bool) {
	first, second, _ := bytes.Cut(raw, []byte("\n"))
	port, err := strconv.Atoi(strings.TrimSpace(string(first)))
	path = strings.TrimSpace(string(second))
	return port, path, err == nil && port > 0 && port < 1<<16 && strings.HasPrefix(path, browserPath) && !strings.ContainsAny(path, " \t\r\n?#")
}

// browserPath begins the path of a browser's WebSocket.
const browserPath = "/devtools/browser/"

// atPort returns the browser that answers HTTP requests at a port, or nil. Programs that only resemble a browser, such as Node.js, have
// another path.
func (f *Finder) atPort(ctx context.Context, port int) *Browser {
	a, ok := f.ask(ctx, port)
	if !ok || a.path == "" {
		return nil
	}
	return &Browser{Address: "ws://" + a.host + a.path, Version: a.version, host: a.host}
}

// answer is what a port answers to the request for the browser's version.
type answer struct {
	// host is the address with the port.
	host   string
	status int
	// path is the path of the browser's WebSocket. It is empty if the answer contains none.
	path, version string
}

// ask requests the browser's version from a port on loopback, by IPv4 and then by IPv6. It returns false if nothing answers.
func (f *Finder) ask(ctx context.Context, port int) (a answer, ok bool) {
	for _, ip := range []string{"127.0.0.1", "::1"} {
		host := net.JoinHostPort(ip, strconv.Itoa(port))
		if a, ok = f.askHost(ctx, host); ok {
			return a, true
		}
	}
	return answer{}, false
}

func (f *Finder) askHost(ctx context.Context, host string) (answer, bool) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/json/version", nil)
	if err != nil {
		return answer{}, false
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: f.Dial, DisableKeepAlives: true}, // no proxy: the address is on loopback
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, false
	}
	defer resp.Body.Close()
	a := answer{host: host, status: resp.StatusCode}
	var v struct {
		Browser              string
		WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&v) != nil {
		return a, true
	}
	if u, err := url.Parse(v.WebSocketDebuggerURL); err == nil && strings.HasPrefix(u.Path, browserPath) {
		a.path, a.version = u.Path, printable(v.Browser)
	}
	return a, true
}

// printable returns a text of a port without characters that a terminal could obey, and limits it.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return truncate.Runes(text, maxVersion)
}
