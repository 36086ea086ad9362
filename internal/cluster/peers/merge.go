package peers

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// merge combines the parts of a list in their order. An item that two nodes list because it is moving appears once.
func merge(m *method, parts []nodeAnswer) proto.Message {
	var answers []proto.Message
	var missing []string
	own := 0
	for _, one := range parts {
		if one.err != nil {
			missing = append(missing, one.node.ID)
			continue
		}
		if one.node.Self {
			own = len(answers)
		}
		answers = append(answers, one.answer)
	}
	slices.Sort(missing)
	switch answers[own].(type) {
	case *domtapv1.ListTabsResponse:
		return mergeTabs(answers, own, missing)
	case *domtapv1.ListSessionsResponse:
		return mergeSessions(answers, missing)
	case *domtapv1.GetStatsResponse:
		return mergeStats(answers, missing)
	}
	return answers[own] // a test verifies that no other method lists items of all nodes
}

func mergeTabs(answers []proto.Message, own int, missing []string) *domtapv1.ListTabsResponse {
	here := answers[own].(*domtapv1.ListTabsResponse)
	all := &domtapv1.ListTabsResponse{DaemonId: here.GetDaemonId(), NodeId: here.GetNodeId(), MissingNodes: missing}
	for _, answer := range answers {
		all.Tabs = append(all.Tabs, answer.(*domtapv1.ListTabsResponse).GetTabs()...)
	}
	all.Tabs = first(all.Tabs, (*domtapv1.Tab).GetId)
	return all
}

func mergeSessions(answers []proto.Message, missing []string) *domtapv1.ListSessionsResponse {
	all := &domtapv1.ListSessionsResponse{MissingNodes: missing}
	for _, answer := range answers {
		all.Sessions = append(all.Sessions, answer.(*domtapv1.ListSessionsResponse).GetSessions()...)
	}
	all.Sessions = first(all.Sessions, (*domtapv1.Session).GetId)
	return all
}

// first keeps the first of several elements with the same name.
func first[T any](all []T, name func(T) string) []T {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(one T) bool {
		again := seen[name(one)]
		seen[name(one)] = true
		return again
	})
}

func mergeStats(answers []proto.Message, missing []string) *domtapv1.GetStatsResponse {
	all := &domtapv1.GetStatsResponse{MissingNodes: missing, Total: new(domtapv1.Account)}
	for _, answer := range answers {
		one := answer.(*domtapv1.GetStatsResponse)
		if since := one.GetSince(); all.Since == nil || since.AsTime().Before(all.Since.AsTime()) {
			all.Since = since
		}
		all.Tokenizer = one.GetTokenizer()
		addAccount(all.Total, one.GetTotal())
		all.Sessions = append(all.Sessions, one.GetSessions()...)
		all.Tabs = append(all.Tabs, one.GetTabs()...)
	}
	all.Sessions = joined(all.Sessions, (*domtapv1.Account).GetSessionId)
	all.Tabs = joined(all.Tabs, (*domtapv1.Account).GetTabId)
	return all
}

// joined adds up accounts with the same name, in the order of their first occurrences.
func joined(accounts []*domtapv1.Account, name func(*domtapv1.Account) string) []*domtapv1.Account {
	known := map[string]*domtapv1.Account{}
	return slices.DeleteFunc(accounts, func(one *domtapv1.Account) bool {
		if before := known[name(one)]; before != nil {
			addAccount(before, one)
			return true
		}
		known[name(one)] = one
		return false
	})
}

func addAccount(to, from *domtapv1.Account) {
	to.Methods = combine(to.Methods, from.GetMethods(), (*domtapv1.MethodStats).GetMethod, func(to, from *domtapv1.MethodStats) {
		addNumbers(to.ProtoReflect(), from.ProtoReflect())
		to.Latency = maxLatency(to.Latency, from.GetLatency())
	})
	to.Steps = combine(to.Steps, from.GetSteps(), (*domtapv1.StepStats).GetKind, func(to, from *domtapv1.StepStats) {
		addNumbers(to.ProtoReflect(), from.ProtoReflect())
	})
	if from.GetReads() != nil {
		if to.Reads == nil {
			to.Reads = new(domtapv1.ReadStats)
		}
		addNumbers(to.Reads.ProtoReflect(), from.GetReads().ProtoReflect())
	}
}

// combine adds each element of src to the element with the same name in dst, which is sorted by name.
func combine[T any](dst, src []T, name func(T) string, add func(to, from T)) []T {
	for _, one := range src {
		i, found := slices.BinarySearchFunc(dst, name(one), func(t T, n string) int { return cmp.Compare(name(t), n) })
		if found {
			add(dst[i], one)
		} else {
			dst = slices.Insert(dst, i, one)
		}
	}
	return dst
}

// addNumbers adds all numbers of a message, including numbers in maps, to the same fields of another message.
func addNumbers(to, from protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			sums := to.Mutable(field).Map()
			value.Map().Range(func(key protoreflect.MapKey, n protoreflect.Value) bool {
				sum := n.Int()
				if sums.Has(key) {
					sum += sums.Get(key).Int()
				}
				sums.Set(key, protoreflect.ValueOfInt64(sum))
				return true
			})
		case field.Kind() == protoreflect.Int64Kind && !field.IsList():
			to.Set(field, protoreflect.ValueOfInt64(to.Get(field).Int()+value.Int()))
		}
		return true
	})
}

// maxLatency merges latencies. It keeps the larger of each two percentiles, so that none is too low for the calls of both nodes.
func maxLatency(a, b *domtapv1.LatencyStats) *domtapv1.LatencyStats {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	longest := func(a, b *durationpb.Duration) *durationpb.Duration {
		return durationpb.New(max(a.AsDuration(), b.AsDuration()))
	}
	return &domtapv1.LatencyStats{
		Count: a.GetCount() + b.GetCount(), P50: longest(a.GetP50(), b.GetP50()), P90: longest(a.GetP90(), b.GetP90()),
		P99: longest(a.GetP99(), b.GetP99()), Max: longest(a.GetMax(), b.GetMax()),
	}
}
