package bench

import (
	"encoding/json"
	"fmt"
	"sort"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"google.golang.org/protobuf/proto"
)

func BenchmarkProf(b *testing.B) {
	s := newSite(b)
	tab := s.page("", 10000)
	type node struct {
		ID        int `json:"id"`
		CallFrame struct {
			FunctionName string `json:"functionName"`
			URL          string `json:"url"`
			LineNumber   int    `json:"lineNumber"`
		} `json:"callFrame"`
		Children []int `json:"children"`
	}
	self, total := map[string]float64{}, map[string]float64{}
	var sum float64
	const rounds = 6
	for range rounds {
		_ = s.cdp(b.Context(), "Profiler.enable", struct{}{}, nil)
		_ = s.cdp(b.Context(), "Profiler.setSamplingInterval", struct {
			Interval int `json:"interval"`
		}{200}, nil)
		if err := s.cdp(b.Context(), "Profiler.start", struct{}{}, nil); err != nil {
			b.Fatal(err)
		}
		s.page(tab, 10000)
		start := time.Now()
		if _, err := s.Dom.GetDom(b.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)}); err != nil {
			b.Fatal(err)
		}
		sum += time.Since(start).Seconds()
		var out struct {
			Profile struct {
				Nodes      []node `json:"nodes"`
				Samples    []int  `json:"samples"`
				TimeDeltas []int  `json:"timeDeltas"`
			} `json:"profile"`
		}
		if err := s.cdp(b.Context(), "Profiler.stop", struct{}{}, &out); err != nil {
			b.Fatal(err)
		}
		byID, parent := map[int]node{}, map[int]int{}
		for _, n := range out.Profile.Nodes {
			byID[n.ID] = n
			for _, c := range n.Children {
				parent[c] = n.ID
			}
		}
		for i, id := range out.Profile.Samples {
			d := float64(out.Profile.TimeDeltas[i]) / 1000 / rounds
			n := byID[id].CallFrame
			self[n.FunctionName] += d
			if up := byID[parent[id]].CallFrame.FunctionName; n.FunctionName == "toString" || n.FunctionName == "hasPlainProperties" || n.FunctionName == "getAttribute" || n.FunctionName == "isInViewport" || n.FunctionName == "nextSibling" || n.FunctionName == "" {
				self[n.FunctionName+" < "+up+" < "+byID[parent[parent[id]]].CallFrame.FunctionName] += d
			}
			seen := map[string]bool{}
			for at, ok := id, true; ok; at, ok = parent[at], parent[at] != 0 {
				f := byID[at].CallFrame.FunctionName
				if !seen[f] {
					total[f] += d
				}
				seen[f] = true
			}
		}
	}
	for name, m := range map[string]map[string]float64{"SELF": self, "TOTAL": total} {
		keys := make([]string, 0)
		for k := range m {
			keys = append(keys, k)
		}
		sort.Slice(keys, func(i, j int) bool { return m[keys[i]] > m[keys[j]] })
		for _, k := range keys[:min(170, len(keys))] {
			fmt.Printf("%s %8.2f %s\n", name, m[k], k)
		}
	}
	fmt.Printf("mean %.1f ms\n", sum*1000/rounds)
	_ = json.Valid
}
