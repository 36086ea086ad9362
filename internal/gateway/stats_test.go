package gateway_test

import (
	"strings"
	"testing"
)

// Calls over HTTP are counted like calls over gRPC.
func TestCallsAreInTheAccounts(t *testing.T) {
	st := newStage(t, settings{})
	st.shop("Pay")
	if a := st.post("DomService/GetCompact", `{"tabId": "t1"}`); a.status != 200 {
		t.Fatalf("got %v", a)
	}
	st.post("DomService/GetCompact", `{"tabId": "t9"}`)
	a := strings.ReplaceAll(string(st.post("StatsService/GetStats", `{}`).body), " ", "")
	for _, want := range []string{`"method":"GetCompact","calls":"2","failed":"1","failures":{"NOT_FOUND":"1"}`, `"tokens":"`, `"tabs":[{`} {
		if !strings.Contains(a, want) {
			t.Errorf("the accounts are %s, want %s in them", a, want)
		}
	}
}
