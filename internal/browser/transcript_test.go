package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/sessions"
)

var updateTranscripts = flag.Bool("update", false, "write what the driver does into testdata/transcripts")

// TestTranscripts plays a browser's messages to one page and compares the page's behavior with the transcripts in testdata/transcripts. A
// transcript has input and output lines. Inputs are
//
//	< METHOD [SESSION] PARAMS   the browser sends an event
//	< recorded N                the browser sends line N of testdata/events.jsonl
//	! CALL ARGUMENTS            the test calls the page; see calls
//	answer METHOD RESULT        the browser answers further commands of that method with RESULT, or not at all if that is missing
//	reply METHOD RESULT         the browser answers the pending commands of that method
//	refuse METHOD MESSAGE       the browser rejects further commands of that method
//	text LINES                  scripts return this string, in which \n and \t are escaped
//	wait DURATION               time passes
//
// and outputs are
//
//	> METHOD SESSION PARAMS     the page sends a command
//	* EVENT                     the page sends an event to the actor
//	= CALL: RESULT              a call returns
//
// After each input, the test waits until everything is idle. Commands of different sessions are sorted by session, because they may be sent
// concurrently. go test ./internal/browser -run TestTranscripts -update writes the outputs.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = play(t, string(want)) })
			if *updateTranscripts {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
			for i := range max(len(wantLines), len(gotLines)) {
				w, g := line(wantLines, i), line(gotLines, i)
				if w != g {
					t.Fatalf("%s:%d:\n got %s\nwant %s", file, i+1, g, w)
				}
			}
		})
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

// play runs the inputs of a transcript and returns the transcript with their outputs.
func play(t *testing.T, transcript string) string {
	s := newStage(t)
	defer s.end()
	var out strings.Builder
	for input := range strings.SplitSeq(strings.TrimRight(transcript, "\n"), "\n") {
		if strings.HasPrefix(input, ">") || strings.HasPrefix(input, "*") || strings.HasPrefix(input, "=") {
			continue
		}
		out.WriteString(input + "\n")
		if input == "" || strings.HasPrefix(input, "#") {
			continue
		}
		s.input(input)
		synctest.Wait()
		for _, line := range s.outputs() {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// stage is a page of a fake browser that a transcript controls.
type stage struct {
	t       *testing.T
	browser *Browser
	page    *Page
	memory  *memory
	events  sync.WaitGroup

	mu sync.Mutex
	// handed lists the events since the last input. returned lists the calls that have returned since then.
	handed, returned []string
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, memory: newMemory()}
	s.browser = newOn(t, s.memory)
	opened, err := s.browser.NewPage(t.Context(), driver.PageOptions{Session: driver.DefaultSession})
	if err != nil {
		t.Fatal(err)
	}
	s.page = opened.(*Page)
	s.events.Go(func() {
		for e := range s.page.Events() {
			s.note(&s.handed, "* "+event(e))
		}
	})
	synctest.Wait()
	s.memory.sent()
	return s
}

func (s *stage) note(list *[]string, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, line)
}

// outputs returns the outputs since the last call.
func (s *stage) outputs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.returned)
	out := slices.Concat(s.memory.sent(), s.handed, s.returned)
	s.handed, s.returned = nil, nil
	return out
}

func (s *stage) end() {
	s.browser.cancel(errClosed)
	s.browser.conn.Close()
	s.browser.wg.Wait()
	s.events.Wait()
	close(s.browser.popups)
}

func (s *stage) input(input string) {
	verb, rest, _ := strings.Cut(input, " ")
	switch verb {
	case "<":
		s.memory.tell(s.message(rest))
	case "!":
		name, arguments, _ := strings.Cut(rest, " ")
		s.events.Go(func() { s.call(name, arguments) })
	case "answer":
		method, result, _ := strings.Cut(rest, " ")
		s.memory.answerWith(method, result, "")
	case "reply":
		method, result, _ := strings.Cut(rest, " ")
		s.memory.reply(method, result)
	case "refuse":
		method, message, _ := strings.Cut(rest, " ")
		s.memory.answerWith(method, "{}", message)
	case "text":
		text, err := strconv.Unquote(`"` + rest + `"`)
		if err != nil {
			s.t.Fatalf("%s: %v", input, err)
		}
		quoted, _ := json.Marshal(text)
		s.memory.answerWith("Runtime.callFunctionOn", `{"result":{"type":"string","value":`+string(quoted)+`}}`, "")
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			s.t.Fatalf("%s: %v", input, err)
		}
		time.Sleep(d)
	default:
		s.t.Fatalf("%q is not an input", input)
	}
}

// message returns an event of the browser.
func (s *stage) message(text string) *cdproto.Message {
	method, rest, _ := strings.Cut(text, " ")
	if method == "recorded" {
		n, err := strconv.Atoi(rest)
		events := strings.Split(strings.TrimSpace(recorded), "\n")
		if err != nil || n < 1 || n > len(events) {
			s.t.Fatalf("there is no line %q in events.jsonl", rest)
		}
		msg := new(cdproto.Message)
		if err := json.Unmarshal([]byte(events[n-1]), msg); err != nil {
			s.t.Fatal(err)
		}
		return msg
	}
	session := ""
	if !strings.HasPrefix(rest, "{") {
		session, rest, _ = strings.Cut(rest, " ")
	}
	if !json.Valid([]byte(rest)) {
		s.t.Fatalf("%s: the parameters are no JSON", text)
	}
	return &cdproto.Message{SessionID: target.SessionID(session), Method: cdproto.MethodType(method), Params: []byte(rest)}
}

// calls maps names to the calls that a transcript may make.
var calls = map[string]func(ctx context.Context, p *Page, arguments string) (any, error){
	"navigate": func(ctx context.Context, p *Page, url string) (any, error) { return p.Navigate(ctx, url) },
	"reload":   func(ctx context.Context, p *Page, _ string) (any, error) { return p.Reload(ctx) },
	"back":     func(ctx context.Context, p *Page, _ string) (any, error) { return p.Step(ctx, -1) },
	"read": func(ctx context.Context, p *Page, _ string) (any, error) {
		out, err := p.Read(ctx, driver.ReadRequest{})
		frames := []string{}
		for _, patch := range out.Patches {
			frames = append(frames, string(patch.Frame)+"@"+patch.Document)
		}
		return map[string]any{"patches": frames, "late": out.Late, "unacknowledged": out.Unacknowledged}, err
	},
	// The arguments are the subscriptions. Without arguments, the subscription ends.
	"subscribe": func(ctx context.Context, p *Page, arguments string) (any, error) {
		asks := func(word string) bool { return slices.Contains(strings.Fields(arguments), word) }
		return nil, p.Subscribe(ctx, driver.Subscription{
			Push: asks("push"), Geometry: asks("push"), Network: asks("network"), Structural: asks("structural"),
		})
	},
	"settle": func(ctx context.Context, p *Page, _ string) (any, error) {
		return nil, p.Settle(ctx, "", 100*time.Millisecond, false)
	},
	"attend": func(ctx context.Context, p *Page, arguments string) (any, error) {
		p.SetActing(ctx, arguments == "on")
		return nil, nil
	},
	"policy": func(_ context.Context, p *Page, arguments string) (any, error) {
		p.SetDialogPolicy(map[string]driver.DialogPolicy{"accept": driver.AcceptDialogs, "dismiss": driver.DismissDialogs}[arguments])
		return nil, nil
	},
	"answer": func(ctx context.Context, p *Page, arguments string) (any, error) {
		verb, text, with := strings.Cut(arguments, " ")
		a := driver.DialogAnswer{Accept: verb == "accept"}
		if with {
			a.Text = &text
		}
		return p.AnswerDialog(ctx, a)
	},
	"acknowledge": func(_ context.Context, p *Page, arguments string) (any, error) {
		var ack driver.Ack
		_, err := fmt.Sscan(arguments, &ack.Document, &ack.Sequence)
		p.Acknowledge(ack)
		return nil, err
	},
	"evaluate": func(ctx context.Context, p *Page, expression string) (any, error) {
		return p.Evaluate(ctx, driver.Script{Expression: expression, Element: driver.Element{Ref: dom.NoRef}, Limit: 1000})
	},
	"click": func(ctx context.Context, p *Page, _ string) (any, error) {
		return p.Do(ctx, driver.Action{Kind: driver.Click, Location: driver.AtPoint(driver.Point{X: 3, Y: 4})})
	},
	// The arguments are the distances and an optional ref.
	"scroll": func(ctx context.Context, p *Page, arguments string) (any, error) {
		a := driver.Action{Kind: driver.Scroll, Location: driver.At(dom.NoRef)}
		if n, err := fmt.Sscan(arguments, &a.Delta.X, &a.Delta.Y, &a.Ref); n < 2 {
			return nil, err
		}
		return p.Do(ctx, a)
	},
	"screenshot": func(ctx context.Context, p *Page, _ string) (any, error) {
		_, err := p.Screenshot(ctx, driver.ScreenshotOptions{Format: "png"})
		return nil, err
	},
	"configure": func(ctx context.Context, p *Page, _ string) (any, error) {
		return nil, p.context.Configure(ctx, sessions.Settings{Credentials: &sessions.Credentials{Username: "user", Password: "secret"},
			Emulation: sessions.Emulation{Locale: "de-DE", Headers: []sessions.Header{{Name: "A", Value: "b"}}}})
	},
	"close": func(ctx context.Context, p *Page, _ string) (any, error) { return nil, p.Close(ctx) },
}

func (s *stage) call(name, arguments string) {
	do := calls[name]
	if do == nil {
		s.t.Errorf("nothing is called %q", name)
		return
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	result, err := do(ctx, s.page, arguments)
	text, _ := json.Marshal(result)
	if err != nil {
		text = []byte(err.Error())
	}
	s.note(&s.returned, "= "+name+": "+string(text))
}

// event formats an event of the page for a transcript.
func event(e driver.Event) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", e), "actor.")
	name = strings.TrimPrefix(name, "driver.")
	text, err := json.Marshal(e)
	switch e := e.(type) {
	case driver.Patched: // package page checks the content
		text, err = json.Marshal(map[string]any{"Frame": e.Patch.Frame, "Document": e.Patch.Document, "Sequence": e.Patch.Sequence, "URL": e.Patch.URL})
	case driver.Gone:
		text, err = json.Marshal(map[string]string{"Err": fmt.Sprint(e.Err)})
	}
	if err != nil {
		return name + " " + err.Error()
	}
	return name + " " + string(text)
}

// memory is the connection to a fake browser, which responds to commands as configured.
type memory struct {
	closed chan struct{}
	once   sync.Once
	wake   chan struct{}

	mu       sync.Mutex
	messages []*cdproto.Message
	commands []*cdproto.Message
	// unanswered lists the commands that wait for a response.
	unanswered []*cdproto.Message
	answers    map[string]answer
}

// answer is the browser's response: a result, or an error if message is set. If both are empty, there is no response.
type answer struct{ result, message string }

var _ chromedp.Transport = (*memory)(nil)

func newMemory() *memory {
	return &memory{closed: make(chan struct{}), wake: make(chan struct{}, 1), answers: map[string]answer{
		"Browser.getVersion":        {result: `{"product":"Chrome/1","userAgent":"x"}`},
		"Target.createTarget":       {result: `{"targetId":"T1"}`},
		"Page.navigate":             {result: `{"frameId":"T1","loaderId":"L1"}`},
		"Runtime.callFunctionOn":    {result: `{"result":{"type":"string","value":""}}`},
		"Page.getNavigationHistory": {result: `{"currentIndex":1,"entries":[{"id":1,"url":"http://a.test/","title":""},{"id":2,"url":"http://a.test/2","title":""}]}`},
		"DOM.getFrameOwner":         {result: `{"backendNodeId":7}`},
		"DOM.resolveNode":           {result: `{"object":{"type":"object","objectId":"O1"}}`},
	}}
}

func (m *memory) answerWith(method, result, message string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[method] = answer{result, message}
}

// reply responds to the waiting commands of a method.
func (m *memory) reply(method, result string) {
	m.mu.Lock()
	waiting := m.unanswered
	m.unanswered = nil
	m.mu.Unlock()
	for _, c := range waiting {
		if string(c.Method) == method {
			m.tell(&cdproto.Message{ID: c.ID, SessionID: c.SessionID, Result: []byte(result)})
		}
	}
}

// tell sends a message to the daemon.
func (m *memory) tell(msg *cdproto.Message) {
	m.mu.Lock()
	m.messages = append(m.messages, msg)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Read implements chromedp.Transport.
func (m *memory) Read(ctx context.Context, msg *cdproto.Message) error {
	for {
		m.mu.Lock()
		if len(m.messages) > 0 {
			*msg = *m.messages[0]
			m.messages = m.messages[1:]
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		select {
		case <-m.wake:
		case <-m.closed:
			return io.EOF
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Write implements chromedp.Transport.
func (m *memory) Write(_ context.Context, msg *cdproto.Message) error {
	m.mu.Lock()
	m.commands = append(m.commands, msg)
	a, known := m.answers[string(msg.Method)]
	m.mu.Unlock()
	if !known {
		a.result = "{}"
	}
	var params struct {
		TargetID string `json:"targetId"`
	}
	_ = json.Unmarshal(msg.Params, &params)
	if msg.Method == "Target.attachToTarget" {
		a.result = `{"sessionId":"` + strings.Replace(params.TargetID, "T", "S", 1) + `"}`
	}
	reply := &cdproto.Message{ID: msg.ID, SessionID: msg.SessionID}
	switch {
	case a.message != "":
		reply.Error = &cdproto.Error{Code: -32000, Message: a.message}
	case a.result == "":
		m.mu.Lock()
		m.unanswered = append(m.unanswered, msg)
		m.mu.Unlock()
		return nil
	default:
		reply.Result = []byte(a.result)
	}
	m.tell(reply)
	if msg.Method == "Target.closeTarget" && a.message == "" {
		m.answerWith("Target.closeTarget", "", "No target with given id found")
		m.tell(&cdproto.Message{Method: "Target.targetDestroyed", Params: msg.Params})
	}
	return nil
}

// Close implements chromedp.Transport.
func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// sent returns the commands since the last call, sorted by session.
func (m *memory) sent() []string {
	m.mu.Lock()
	commands := m.commands
	m.commands = nil
	m.mu.Unlock()
	slices.SortStableFunc(commands, func(a, b *cdproto.Message) int { return cmp.Compare(a.SessionID, b.SessionID) })
	var lines []string
	for _, c := range commands {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("> %s %s %s", c.Method, cmp.Or(string(c.SessionID), "-"), parameters(c.Params)), " "))
	}
	return lines
}

// parameters formats the parameters of a command, with sorted keys and without the text of our scripts.
func parameters(params []byte) string {
	var value any
	if json.Unmarshal(params, &value) == nil {
		if call, ok := value.(map[string]any); ok && strings.HasPrefix(fmt.Sprint(call["functionDeclaration"]), "async function(values") {
			call["functionDeclaration"] = "BOUNDED"
		}
		params = unescaped(value)
	}
	for script, name := range map[string]string{observer.Call: "CALL", observer.Adopt: "ADOPT", observer.Learn: "LEARN"} {
		params = bytes.ReplaceAll(params, unescaped(script), []byte(`"`+name+`"`))
	}
	return string(params)
}

// unescaped encodes a value as JSON without escaping < and >.
func unescaped(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // cannot fail, because the value was decoded from JSON
	return bytes.TrimSpace(b.Bytes())
}

// newOn returns a browser on a connection.
func newOn(t *testing.T, connection chromedp.Transport) *Browser {
	t.Helper()
	b := newBrowser(t.Context(), Config{})
	b.script = ""
	b.attach(&launch.Browser{VersionInfo: cdpbrowser.GetVersionResult{Product: "Chrome/1.2.3.4"}, Conn: devtools.New(b.ctx, connection, &nobody{gone: make(chan struct{})}, b.inbox.Push)})
	return b
}
