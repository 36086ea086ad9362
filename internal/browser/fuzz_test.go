package browser

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/observer"
)

// recorded holds events that a browser once sent, one per line. Its page is T1, and its session S1.
//
//go:embed testdata/events.jsonl
var recorded string

// forged is a fake browser that responds to every command and sends the messages that a fuzzer chooses.
type forged struct {
	in  *os.File
	out *os.File

	mu sync.Mutex
	// text is the result of scripts. spoil changes the next response.
	text  string
	spoil func([]byte) []byte
	// gone is a context whose calls are rejected. refused receives a value at the first rejection.
	gone    string
	refused chan struct{}
	done    chan struct{}
}

// say sends a message.
func (f *forged) say(message []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = f.out.Write(append(bytes.Clone(message), 0)) // fails only at the end, when the reader has gone
}

// answer responds to commands until there are no more.
func (f *forged) answer() {
	defer close(f.done)
	in := bufio.NewReaderSize(f.in, 1<<16)
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var c struct {
			ID        int64  `json:"id"`
			Method    string `json:"method"`
			SessionID string `json:"sessionId"`
			Params    struct {
				TargetID string `json:"targetId"`
				Context  string `json:"uniqueContextId"`
			} `json:"params"`
		}
		if json.Unmarshal(raw[:len(raw)-1], &c) != nil {
			continue
		}
		f.mu.Lock()
		text, spoil, refused := f.text, f.spoil, f.gone != "" && f.gone == c.Params.Context
		if strings.HasPrefix(c.Method, "Runtime.") {
			f.spoil = nil
		} else {
			spoil = nil
		}
		f.mu.Unlock()
		quoted, _ := json.Marshal(text)
		result := map[string]string{
			"Browser.getVersion":        `{"product":"Chrome/1","userAgent":"x"}`,
			"Target.createTarget":       `{"targetId":"T1"}`,
			"Target.attachToTarget":     `{"sessionId":"` + strings.Replace(c.Params.TargetID, "T", "S", 1) + `"}`,
			"Page.navigate":             `{"frameId":"T1","loaderId":"L1"}`,
			"Runtime.callFunctionOn":    `{"result":{"type":"string","value":` + string(quoted) + `}}`,
			"Page.getNavigationHistory": `{"currentIndex":0,"entries":[{"id":1,"url":"u","title":""}]}`,
		}[c.Method]
		if result == "" {
			result = "{}"
		}
		id, _ := json.Marshal(c.ID)
		if refused {
			select {
			case f.refused <- struct{}{}:
			default:
			}
			f.say([]byte(`{"id":` + string(id) + `,"error":{"code":-32602,"message":"uniqueContextId not found"},"sessionId":"` + c.SessionID + `"}`))
			continue
		}
		if spoil != nil {
			result = string(spoil([]byte(result)))
		}
		f.say([]byte(`{"id":` + string(id) + `,"result":` + result + `,"sessionId":"` + c.SessionID + `"}`))
		if c.Method == "Target.closeTarget" {
			f.say([]byte(`{"method":"Target.targetDestroyed","params":{"targetId":"` + c.Params.TargetID + `"}}`))
		}
	}
}

// nobody is a connection to chromedp that sends nothing.
type nobody struct {
	gone chan struct{}
	once sync.Once
}

func (n *nobody) Read(ctx context.Context, _ *cdproto.Message) error {
	select {
	case <-n.gone:
	case <-ctx.Done():
	}
	return os.ErrClosed
}
func (n *nobody) Write(context.Context, *cdproto.Message) error { return nil }
func (n *nobody) Close() error {
	n.once.Do(func() { close(n.gone) })
	return nil
}

// newForged returns a browser that is connected to a forged one. The caller must call end.
func newForged(t *testing.T) (b *Browser, f *forged, end func()) {
	t.Helper()
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f = &forged{in: in, out: out, done: make(chan struct{})}
	go f.answer()
	b = newOn(t, devtools.NewPipe(fromBrowser, toBrowser))
	b.wg.Go(func() {
		<-b.conn.Done()
		_ = fromBrowser.Close() // unblocks a write that has no reader
	})
	return b, f, func() {
		b.cancel(errClosed)
		_ = in.Close()
		b.conn.Close()
		b.wg.Wait()
		close(b.popups)
		_ = out.Close()
		<-f.done
	}
}

// FuzzWhatTheBrowserSays lets a browser send anything: recorded events in any order and number, with any values replaced, and corrupted
// responses. The daemon must not panic, its calls must end, and it must leave no goroutines behind.
func FuzzWhatTheBrowserSays(f *testing.F) {
	events := strings.Split(strings.TrimSpace(recorded), "\n")
	all := make([]byte, 0, 2*len(events))
	for i := range events {
		all = append(all, 0, byte(i))
	}
	f.Add(all, "")
	for i := range events {
		f.Add([]byte{0, 5, 0, 17, 0, byte(i), 1, byte(i), 3, 1, 2, byte(i), 7, 9}, "x\t1\tf\t1\t0\t0\t1\t1\tu\tt\t0\n+\n\n^\n2204\n\n\nbutton\nbutton\nInner\n\n\nsubmit\n\n\n\n16388\n")
	}
	f.Fuzz(func(t *testing.T, program []byte, text string) {
		before := runtime.NumGoroutine()
		// Go limits an input to 10 s, but does not report where it hangs.
		hang := time.AfterFunc(9*time.Second, func() {
			stacks := make([]byte, 1<<20)
			panic("it hangs:\n" + string(stacks[:runtime.Stack(stacks, true)]))
		})
		defer hang.Stop()
		sayAll(t, events, program[:min(len(program), 400)], text)
		for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

// sayAll runs a program against a tab.
func sayAll(t *testing.T, events []string, program []byte, text string) {
	b, f, end := newForged(t)
	defer end()
	pool := tabpool.New(b, tabpool.Config{})
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		if err := pool.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.text = text
	f.mu.Unlock()
	for i := 0; i+1 < len(program); i += 2 {
		event := []byte(events[int(program[i+1])%len(events)])
		at := uint(i)
		if i+3 < len(program) {
			at = uint(program[i+2])<<8 | uint(program[i+3])
		}
		switch program[i] % 8 {
		case 0, 1:
			f.say(event)
		case 2, 3, 4:
			f.say(mutate(event, at, text))
			i += 2
		case 5:
			f.mu.Lock()
			f.spoil = func(m []byte) []byte {
				return mutate(m, at, text)
			}
			f.mu.Unlock()
		case 6:
			quoted, _ := json.Marshal(text)
			f.say([]byte(`{"method":"Runtime.bindingCalled","params":{"name":"` + observer.Binding + `","payload":` + string(quoted) + `,"executionContextId":4},"sessionId":"S1"}`))
		case 7:
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
			switch program[i+1] % 4 {
			case 0:
				_, _ = tab.Navigate(ctx, "http://a.test/", actor.WaitLoad)
			case 1:
				_, _ = tab.Read(ctx, actor.ReadOptions{Geometry: true})
			case 2:
				release, err := tab.Watch(ctx, actor.WatchOptions{})
				if err == nil {
					defer release()
				}
			case 3:
				_, _ = query.Markup(ctx, tab, dom.NoRef)
			}
			cancel()
		}
	}
}

// mutate replaces one value in a message.
func mutate(message []byte, at uint, text string) []byte {
	var v any
	if json.Unmarshal(message, &v) != nil {
		return message
	}
	values := 0
	walk(v, func(any) (any, bool) { values++; return nil, false })
	if values == 0 {
		return message
	}
	pick, how := int(at>>4)%values, at%16
	v = walk(v, func(old any) (any, bool) {
		pick--
		if pick != -1 {
			return nil, false
		}
		return []any{nil, true, -1.0, 0.0, 1e18, math.MaxInt64, "", "S1", "T1", text, strings.Repeat("x", 70_000), []any{}, map[string]any{}, []any{old, old}, "\u0000\ufffd", map[string]any{"x": old}}[how], true
	})
	out, err := json.Marshal(v)
	if err != nil {
		return message
	}
	return out
}

// walk calls replace for every value below v, in the order of keys.
func walk(v any, replace func(any) (any, bool)) any {
	if now, ok := replace(v); ok {
		return now
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = walk(v[k], replace)
		}
	case []any:
		for i := range v {
			v[i] = walk(v[i], replace)
		}
	}
	return v
}
