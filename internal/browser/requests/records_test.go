package requests

import (
	"context"
	"slices"
	"testing"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/console"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/devtools/devtoolstest"
	"github.com/domtap/domtap/internal/browser/frames"
)

// TestRecordsAreForgottenWhenNobodyCounts lets a page make many requests during an action, and some afterwards.
func TestRecordsAreForgottenWhenNobodyCounts(t *testing.T) {
	var sent []string
	browser := devtoolstest.New(func(command *cdproto.Message) *cdproto.Message {
		sent = append(sent, string(command.SessionID)+" "+string(command.Method))
		return nil
	})
	conn := devtools.New(t.Context(), browser, devtoolstest.New(nil), func(*cdproto.Message) {})
	defer conn.Close()
	session := func(id target.SessionID) devtools.Session { return devtools.Session{Conn: conn, ID: id} }
	main, other, offline := session("main"), session("other"), false
	m := frames.New(frames.Page{ID: "page", Main: main, Life: t.Context(), Emit: func(driver.Event) {}})
	r := New(m, func() []devtools.Step {
		if offline {
			return []devtools.Step{{Method: "Network.emulateNetworkConditions"}}
		}
		return nil
	})
	request := func(s devtools.Session, times int) {
		one := console.Request{ID: "1", Frame: "page", Document: "document", Type: string(network.ResourceTypeFetch)}
		begun, ended := one, one
		begun.Begun, ended.Ended = true, true
		for range times {
			r.Reported(s, begun)
			r.Reported(s, ended)
		}
	}
	check := func(when string, want ...string) {
		t.Helper()
		if !slices.Equal(sent, want) {
			t.Errorf("%s, %q is sent, want %q", when, sent, want)
		}
	}
	r.SetActing(context.Background(), true)
	request(main, 2*maxRecords)
	check("while somebody acts")
	r.SetActing(context.Background(), false)
	request(other, maxRecords-1)
	offline = true
	request(session("third"), maxRecords)
	offline = false
	request(main, 1)
	check("afterwards", "main Network.disable", "main Network.enable")
	request(main, maxRecords-2)
	r.Committed("page", "next")
	request(main, 2)
	check("after the page has gone to another document", "main Network.disable", "main Network.enable")
}
