package bench

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkTabMemory prints the heap cost of a tab in the daemon, in KB and by owner: of a tab with a page of 100 elements that was read;
// of an additional stream; and of a tab with a stream after 300 changes of 20 elements each. The daemon runs in a separate process, and its
// clients in this one.
func BenchmarkTabMemory(b *testing.B) {
	const tabs = 10
	b.Setenv("GODEBUG", "memprofilerate=1")
	a := newSiteApart(b)
	open := func(url string) string {
		tab := a.Open(url)
		if _, err := a.Dom.GetCompact(b.Context(), &domtapv1.GetCompactRequest{TabId: tab}); err != nil {
			b.Fatal(err)
		}
		return tab
	}
	first := open(a.url + "/page/100")
	a.watch(first)
	empty := a.memory()

	var all []string
	for range tabs {
		all = append(all, open(a.url+"/page/100"))
	}
	read := a.memory()
	for _, tab := range all {
		a.watch(tab)
	}
	watched := a.memory()

	busy := testenv.Pages(b, map[string]http.HandlerFunc{"/": testenv.HTML(HTML(100) + `<script>
		let n = 0
		const timer = setInterval(() => {
			if (++n == 300) clearInterval(timer)
			for (const b of document.querySelectorAll("button")) b.textContent = "Buy " + n
		}, 100)
	</script>`)})
	var streams sync.WaitGroup
	for range tabs {
		stream := a.watch(open(busy))
		streams.Go(func() { awaitText(b, stream, "Buy 300") })
	}
	streams.Wait()
	changed := a.memory()

	b.ReportMetric(0, "ns/op")
	b.Log(memoryTable(tabs, [2]Memory{empty, read}, [2]Memory{read, watched}, [2]Memory{watched, changed}))
}

// BenchmarkManyRequests prints how many bytes each of 10,000 requests of a page leaves in its browser, after 4,500 earlier requests. A
// polling page makes that many in hours (ADR 86).
func BenchmarkManyRequests(b *testing.B) {
	s := newSite(b)
	s.Open(s.url + "/page/10")
	held := func() float64 {
		for range 2 {
			if err := s.cdp(b.Context(), "HeapProfiler.collectGarbage", nil, nil); err != nil {
				b.Fatal(err)
			}
		}
		return memoryOf(b, s.Browser.PID(), "Private_Dirty:")
	}
	request := func(n int) {
		testenv.Evaluate[bool](b, s.Daemon, fmt.Sprintf(`(async () => {
			for (let i = 0; i < %d; i++) await fetch("?n=" + i, {method: "HEAD"})
			performance.clearResourceTimings()
			return true
		})()`, n))
	}
	request(4500)
	before := held()
	const more = 10_000
	request(more)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric((held()-before)*(1<<20)/more, "bytes/request")
}

// memoryTable formats the memory that each tab added between two measurements, in KB, with a column for each pair.
func memoryTable(tabs int, pairs ...[2]Memory) string {
	table := fmt.Sprintf("%-28s %8s %8s %8s", "KB for each tab", "read", "+stream", "changed")
	row := func(name string, value func(m Memory) int64) {
		table += fmt.Sprintf("\n%-28s", name)
		for _, pair := range pairs {
			table += fmt.Sprintf(" %8.1f", float64(value(pair[1])-value(pair[0]))/float64(tabs)/1024)
		}
	}
	for _, part := range parts {
		row(part.name, func(m Memory) int64 { return m.Held[part.name] })
	}
	row("heap", func(m Memory) (sum int64) {
		for _, bytes := range m.Held {
			sum += bytes
		}
		return sum
	})
	row("stacks of goroutines", func(m Memory) int64 { return m.Stacks })
	return table
}

// parts lists the parts of the heap with the code that allocates them: a prefix of function names after the module's name. An allocation
// belongs to the part of the innermost matching function.
var parts = []struct {
	name string
	code []string
}{
	{"DOM", []string{"actor/model", "dom", "internal/browser/observer", "internal/browser/devtools.unquote", "internal/elementcontext"}},
	{"log of changes", []string{"actor/model.(*sequence).edit", "actor/internal/revisions"}},
	{"views", []string{"internal/server/tabview", "internal/server/messages", "view", "compact", "diff"}},
	{"tokens of texts (shared)", []string{"internal/tokens"}},
	{"tab and page", []string{"actor", "internal/browser"}},
	{"calls, usage and streams", []string{""}},
}

// Memory holds the heap of a separate daemon by parts, and the memory of its goroutines, in bytes.
type Memory struct {
	Held   map[string]int64
	Stacks int64
}

// Memory collects the garbage and returns the remaining memory. Every allocation must be profiled, as with GODEBUG=memprofilerate=1.
func (c *control) Memory(_ struct{}, reply *Memory) error {
	runtime.GC()
	runtime.GC() // the profile is from the previous collection
	records, n, complete := []runtime.MemProfileRecord(nil), 0, false
	for !complete {
		records = make([]runtime.MemProfileRecord, n+100)
		n, complete = runtime.MemProfile(records, false)
	}
	reply.Held = map[string]int64{}
	for _, record := range records[:n] {
		if part := partOf(record.Stack()); part != "" {
			reply.Held[part] += record.InUseBytes()
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	reply.Stacks = int64(stats.StackInuse)
	return nil
}

// partOf returns the part of an allocation. It is empty for allocations of the benchmark itself.
func partOf(stack []uintptr) string {
	const module = "github.com/domtap/domtap/"
	for frames := runtime.CallersFrames(stack); ; {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "net/rpc.") {
			return ""
		}
		if name, ours := strings.CutPrefix(frame.Function, module); ours && !strings.HasPrefix(name, "gen/") {
			return longest(name)
		}
		if !more {
			return longest("")
		}
	}
}

// longest returns the part with the longest prefix of a function's name.
func longest(function string) (part string) {
	length := -1
	for _, p := range parts {
		for _, code := range p.code {
			if strings.HasPrefix(function, code) && len(code) > length {
				part, length = p.name, len(code)
			}
		}
	}
	return part
}

func (a *apart) memory() (m Memory) {
	a.b.Helper()
	if err := a.control.Call("Control.Memory", struct{}{}, &m); err != nil {
		a.b.Fatal(err)
	}
	return m
}

// watch opens a stream of a tab and receives the page.
func (a *apart) watch(tab string) grpc.ServerStreamingClient[domtapv1.WatchDomResponse] {
	a.b.Helper()
	stream, err := a.Dom.WatchDom(a.b.Context(), &domtapv1.WatchDomRequest{TabId: tab})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		a.b.Fatal(err)
	}
	return stream
}

// awaitText reads a stream until a message contains a text.
func awaitText(b *testing.B, stream grpc.ServerStreamingClient[domtapv1.WatchDomResponse], text string) {
	for {
		m, err := stream.Recv()
		if err != nil {
			b.Error(err)
			return
		}
		if strings.Contains(m.String(), text) {
			return
		}
	}
}
