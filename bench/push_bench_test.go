package bench

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkPush measures the cost of one change of a page in the daemon's process, from the CDP message to the sockets of the readers:
// processor time, read and write system calls, waits of threads, and the bytes that the browser sends. If other programs are running, these
// are more meaningful than times.
func BenchmarkPush(b *testing.B) {
	for _, readers := range []int{1, 100} {
		b.Run(fmt.Sprint("readers=", readers), func(b *testing.B) {
			s := newSiteApart(b)
			tab := s.page("", 200)
			for b.Loop() {
				s.push(b, tab, readers)
			}
		})
	}
}

// push makes a page change a hundred times in ten seconds while it is watched.
func (s *apart) push(b *testing.B, tab string, readers int) {
	s.b = b
	s.page(tab, 200)
	s.interactive(tab)
	const changes = 100
	a := newReaderGroup(b, readers, s.socket, tab)
	for i, stream := range a.streams {
		a.running.Go(func() {
			for n := 0; n < changes; {
				m, err := stream.Recv()
				if err != nil {
					b.Errorf("reader %d: %v", i, err)
					return
				}
				n += len(stamps(m, time.Now()))
			}
		})
	}
	before := s.costs()
	params := map[string]any{"expression": fmt.Sprintf("(%s)(1, 10, %d)", ticker, changes), "awaitPromise": true}
	if err := s.cdp(b.Context(), "Runtime.evaluate", params, nil); err != nil {
		b.Error(err)
	}
	a.running.Wait()
	after := s.costs()
	a.leave()
	report := func(name string, before, after int64) { b.ReportMetric(float64(after-before)/changes, name+"/change") }
	report("cpu-µs", before.Processor.Microseconds(), after.Processor.Microseconds())
	report("waits", before.Waits, after.Waits)
	report("reads", before.Reads, after.Reads)
	report("writes", before.Writes, after.Writes)
	report("B", before.Received, after.Received)
}
