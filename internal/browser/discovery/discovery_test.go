package discovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/domtap/domtap/internal/golden"
)

// machine simulates the files and ports of a machine.
type machine struct {
	files map[string]string
	// ports maps addresses to what answers there.
	ports map[string]http.Handler
	// written maps files to when they were written, in Unix seconds.
	written map[string]int64
}

// finder returns a Finder for the machine. Its servers end with the test.
func (m machine) finder(t *testing.T, folders []Folder) *Finder {
	t.Helper()
	servers := map[string]string{}
	for address, handler := range m.ports {
		s := httptest.NewServer(handler)
		t.Cleanup(s.Close)
		servers[address] = s.Listener.Addr().String()
	}
	return &Finder{
		Folders: folders, Ports: usualPorts,
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := m.files[path]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		Stat: func(path string) (fs.FileInfo, error) {
			for file := range m.files {
				if strings.HasPrefix(file, path) {
					written := m.written[path]
					return fstest.MapFS{"x": {Mode: map[bool]fs.FileMode{true: fs.ModeDir}[file != path], ModTime: time.Unix(written, 0)}}.Stat("x")
				}
			}
			return nil, fs.ErrNotExist
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if server := servers[address]; server != "" {
				return new(net.Dialer).DialContext(ctx, network, server)
			}
			return nil, errors.New("connection refused")
		},
	}
}

// open answers as a browser with an open port does. It panics on any request but the one for the version.
func open(path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/json/version" || r.Header.Get("Upgrade") != "" {
			panic("discovery must send nothing but the request for the version: " + r.URL.Path)
		}
		fmt.Fprintf(w, `{"Browser":"Chrome/156.0.1.2","webSocketDebuggerUrl":"ws://%s%s"}`, r.Host, path)
	})
}

// asks answers as a browser whose switch is on does.
var asks = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		panic("a WebSocket makes the browser ask the user")
	}
	http.NotFound(w, r)
})

func noEnv(string) string { return "" }

const one, two = "/devtools/browser/1", "/devtools/browser/2"

// TestSearches finds browsers on machines of each system, in every state that the file and the port can have.
func TestSearches(t *testing.T) { golden.Each(t, "testdata/searches.txtar", 1, searches) }

func searches(t *testing.T, a *golden.Archive) {
	linux, mac, windows := Folders("linux", "/home/ines", noEnv), Folders("darwin", "/Users/ines", noEnv), Folders("windows", `C:\Users\ines`, noEnv)
	const chrome, snap = "/home/ines/.config/google-chrome/", "/home/ines/snap/chromium/common/chromium/"
	node := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Browser":"node.js/v24.1.0","webSocketDebuggerUrl":"ws://127.0.0.1:9222/5a"}`)
	})
	shop := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<title>Shop</title>") })
	for _, c := range []struct {
		name    string
		folders []Folder
		machine machine
		choice  string
	}{
		{"nothing is installed", linux, machine{}, ""},
		{"browsers without debugging", linux, machine{files: map[string]string{chrome + "Local State": "{}", "/home/ines/.config/BraveSoftware/Brave-Browser/Local State": "{}", "/home/ines/.config/microsoft-edge/Local State": ""}}, ""},
		{"Linux, the switch", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one}, ports: map[string]http.Handler{"127.0.0.1:9222": asks}}, ""},
		{"macOS, the switch", mac, machine{files: map[string]string{"/Users/ines/Library/Application Support/Google/Chrome/DevToolsActivePort": "9222\n" + one}, ports: map[string]http.Handler{"127.0.0.1:9222": asks}}, ""},
		{"Windows, the switch of Edge, CRLF", windows, machine{files: map[string]string{`C:\Users\ines\AppData\Local\Microsoft\Edge\User Data\DevToolsActivePort`: "9222\r\n" + one + "\r\n"}, ports: map[string]http.Handler{"127.0.0.1:9222": asks}}, ""},
		{"an open port, found by its folder and by its number", linux, machine{files: map[string]string{snap + "DevToolsActivePort": "9222\n" + one}, ports: map[string]http.Handler{"127.0.0.1:9222": open(one)}}, ""},
		{"an open port, IPv6", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "41001\n" + one}, ports: map[string]http.Handler{"[::1]:41001": open(one)}}, ""},
		{"an open port, another folder", linux, machine{ports: map[string]http.Handler{"127.0.0.1:9223": open(two)}}, ""},
		{"a crash, nothing listens", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "41001\n" + one}}, ""},
		{"a crash, another browser has the port", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one}, ports: map[string]http.Handler{"127.0.0.1:9222": open(two)}}, ""},
		{"a crash, a web server has the port", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one}, ports: map[string]http.Handler{"127.0.0.1:9222": shop}}, ""},
		{"half a file", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "9222"}, ports: map[string]http.Handler{"127.0.0.1:9222": asks}}, ""},
		{"Node.js", linux, machine{ports: map[string]http.Handler{"127.0.0.1:9222": node}}, ""},
		{"two files name the port of a browser that asks", linux, machine{
			files:   map[string]string{chrome + "DevToolsActivePort": "9222\n" + one, "/home/ines/.config/microsoft-edge/DevToolsActivePort": "9222\n" + two},
			ports:   map[string]http.Handler{"127.0.0.1:9222": asks},
			written: map[string]int64{chrome + "DevToolsActivePort": 100, "/home/ines/.config/microsoft-edge/DevToolsActivePort": 200},
		}, ""},
		{"several", linux, machine{
			files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one, snap + "DevToolsActivePort": "41001\n" + two, "/home/ines/.config/chromium/DevToolsActivePort": "41002\n" + one},
			ports: map[string]http.Handler{"127.0.0.1:9222": asks, "127.0.0.1:41001": open(two), "127.0.0.1:41002": open(one), "127.0.0.1:9224": open("/devtools/browser/3")},
		}, ""},
		{"several, one by name", linux, machine{
			files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one, snap + "DevToolsActivePort": "41001\n" + two},
			ports: map[string]http.Handler{"127.0.0.1:9222": asks, "127.0.0.1:41001": open(two)},
		}, "chrome"},
		{"several, another name", linux, machine{
			files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one, snap + "DevToolsActivePort": "41001\n" + two},
			ports: map[string]http.Handler{"127.0.0.1:9222": asks, "127.0.0.1:41001": open(two)},
		}, "brave"},
		{"a port with control characters", linux, machine{
			ports: map[string]http.Handler{"127.0.0.1:9222": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"Browser":"Chrome\u001b[2J\n%s","webSocketDebuggerUrl":"ws://x%s"}`, strings.Repeat("1", 200), one)
			})},
		}, ""},
		{"a folder", linux, machine{
			files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one, "/srv/agent/DevToolsActivePort": "41001\n" + two},
			ports: map[string]http.Handler{"127.0.0.1:9222": asks, "127.0.0.1:41001": open(two)},
		}, "/srv/agent/"},
		{"a folder without a browser", linux, machine{files: map[string]string{chrome + "DevToolsActivePort": "9222\n" + one}, ports: map[string]http.Handler{"127.0.0.1:9222": asks}}, "/srv/agent"},
	} {
		b, err := c.machine.finder(t, c.folders).Choose(t.Context(), c.choice)
		text := fmt.Sprintf("%s\n%s\n", b, b.Address)
		if e, ok := errors.AsType[*Error](err); ok {
			text = fmt.Sprintf("error: %s\nhint: %s\n", e.Reason, e.Remedy)
		}
		a.Compare(t, c.name, text)
	}
}

// TestFolders lists the folders of each system.
func TestFolders(t *testing.T) { golden.Each(t, "testdata/folders.txtar", 1, listFolders) }

func listFolders(t *testing.T, a *golden.Archive) {
	env := map[string]string{"XDG_CONFIG_HOME": "/xdg", "LOCALAPPDATA": `D:\Local`}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		home := map[string]string{"linux": "/home/ines", "darwin": "/Users/ines", "windows": `C:\Users\ines`}[goos]
		var text strings.Builder
		for _, f := range Folders(goos, home, func(name string) string { return env[name] }) {
			fmt.Fprintf(&text, "%s\t%s\t%s\t%s\n", f.Name, f.Product, f.Scheme, f.Path)
		}
		a.Compare(t, goos, text.String())
	}
}
