package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

func ref(n uint32) *domtapv1.Target { return &domtapv1.Target{Ref: &n} }

func clickOn(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

func TestInteractDoesEveryKindOfStep(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Textbox("Email", "x"), actortest.Button("Pay"))
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		resp, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{
			{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: ref(1), Button: "right", Modifiers: []string{"Shift"}}}},
			{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: ref(1)}}},
			{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: ref(1)}}},
			{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: ref(0), Text: "yz", Submit: true}}},
			{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: ref(0), Text: "a@b.c"}}},
			{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Control+a"}}},
			{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Tab", Target: ref(0)}}},
			{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: ref(1)}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.GetResults()) != 8 {
			t.Fatalf("%d results, want 8", len(resp.GetResults()))
		}
		for i, r := range resp.GetResults() {
			if !r.GetOk() || r.GetSummary() == "" || r.GetError() != "" {
				t.Errorf("step %d: %v", i, r)
			}
		}
		var kinds []driver.ActionKind
		for _, a := range page.Actions() {
			kinds = append(kinds, a.Kind)
		}
		want := []driver.ActionKind{driver.Click, driver.Click, driver.Hover, driver.Type, driver.Press, driver.Fill,
			driver.Press, driver.Press, driver.Scroll}
		if !slices.Equal(kinds, want) {
			t.Errorf("did %v, want %v", kinds, want)
		}
		first, second, enter := page.Actions()[0], page.Actions()[1], page.Actions()[4]
		if first.Button != "right" || first.Clicks != 1 || !slices.Equal(first.Modifiers, []string{"Shift"}) ||
			second.Clicks != 2 || enter.Text != "Enter" || enter.Ref != 0 {
			t.Errorf("did %+v", page.Actions())
		}
		d := resp.GetDiff()
		if resp.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED || d.GetChangedCount() != 1 || !proto.Equal(
			d.GetChanged()[0].GetFields()[0], &domtapv1.FieldChange{Field: "value", Old: "x", New: "a@b.c"}) {
			t.Errorf("the turn did %v, %v", resp.GetVerdict(), d)
		}
		if resp.GetTab().GetId() != tab.GetId() || d.GetToRevision() != resp.GetTab().GetRevision() {
			t.Errorf("the diff %v ends at another state than the tab %v", d, resp.GetTab())
		}
	})
}

func TestInteractReportsFailedSteps(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		covered := actortest.Button("Covered")
		covered.Act = func(*actortest.Page, driver.Action) error {
			return apierr.Errorf(apierr.NotActionable, "the button is covered by a dialog: close it first")
		}
		tab, page := b.shop(actortest.Button("Pay"), covered, actortest.Button("Gone"))
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[:2] })
		act := func(stop *bool) []*domtapv1.StepResult {
			resp, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), StopOnError: stop,
				Steps: []*domtapv1.Step{clickOn(ref(0)), clickOn(ref(1)), clickOn(ref(2)), clickOn(ref(0))}})
			if err != nil {
				t.Fatal(err)
			}
			return resp.GetResults()
		}
		got := act(nil)
		if !got[0].GetOk() || got[1].GetOk() || got[1].GetReason() != "NOT_ACTIONABLE" || got[1].GetError() == "" ||
			got[2].GetOk() || got[2].GetReason() != "" || got[3].GetOk() {
			t.Errorf("stopping at the first error: %v", got)
		}
		got = act(proto.Bool(false))
		if !got[0].GetOk() || got[1].GetOk() || got[2].GetReason() != "STALE_REF" || !got[3].GetOk() {
			t.Errorf("going on: %v", got)
		}
	})
}

// A turn that failed before it had an effect is an error of the call.
func TestInteractFailsWhenNothingWasDone(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Gone"), actortest.Button("Pay"))
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[1:] })
		r := &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{clickOn(ref(0)), clickOn(ref(1))}}
		_, err := b.act.Interact(t.Context(), r)
		wantCode(t, err, codes.FailedPrecondition, "STALE_REF")
		if n := len(page.Actions()); n > 0 {
			t.Errorf("%d actions were done", n)
		}
		r.StopOnError = proto.Bool(false)
		resp, err := b.act.Interact(t.Context(), r)
		if err != nil || resp.GetResults()[0].GetReason() != "STALE_REF" || !resp.GetResults()[1].GetOk() {
			t.Errorf("going on: %v, %v", resp, err)
		}
	})
}

func TestInteractReportsWhatHappened(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.browser.Serve(shopURL+"2", func() actortest.Screen {
			return actortest.Screen{Title: "Two", Body: buttons("N", 120)}
		})
		for _, c := range []struct {
			ref  uint32
			want domtapv1.Verdict
		}{
			{0, domtapv1.Verdict_VERDICT_NO_CHANGE}, {1, domtapv1.Verdict_VERDICT_NAVIGATED},
			{2, domtapv1.Verdict_VERDICT_NEW_TAB}, {3, domtapv1.Verdict_VERDICT_DIALOG},
		} {
			link, opener, asker := actortest.Link("Go", shopURL+"2"), actortest.Button("Open"), actortest.Button("Ask")
			link.Act = func(p *actortest.Page, _ driver.Action) error { p.Go(shopURL + "2"); return nil }
			opener.Act = func(p *actortest.Page, _ driver.Action) error { p.Open(shopURL + "2"); return nil }
			asker.Act = func(p *actortest.Page, _ driver.Action) error {
				p.OpenDialog(driver.Dialog{Type: "confirm", Message: "Sure?"})
				return nil
			}
			tab, _ := b.shop(actortest.Button("Idle"), link, opener, asker)
			b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
			resp, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{clickOn(ref(c.ref))}})
			if err != nil || resp.GetVerdict() != c.want {
				t.Errorf("ref %d: %v, %v, want %v", c.ref, resp.GetVerdict(), err, c.want)
			}
			if d := resp.GetDiff(); c.want == domtapv1.Verdict_VERDICT_NAVIGATED && (len(d.GetAdded()) != 50 || d.GetAddedCount() != 120) {
				t.Errorf("the diff lists %d of %d added, want 50 of 120", len(d.GetAdded()), d.GetAddedCount())
			}
		}
	})
}

func TestInteractNavigatesFirst(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop()
		b.browser.Serve(shopURL+"2", func() actortest.Screen { return actortest.Screen{Title: "Two"} })
		resp, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Url: shopURL + "2"})
		if err != nil || resp.GetTab().GetTitle() != "Two" || resp.GetVerdict() != domtapv1.Verdict_VERDICT_NAVIGATED {
			t.Errorf("got %v, %v", resp, err)
		}
		_, err = b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Url: "chrome://settings"})
		wantCode(t, err, codes.PermissionDenied, "URL_POLICY")
		_, err = b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: "t9", Url: shopURL})
		wantCode(t, err, codes.NotFound, "NOT_FOUND")
	})
}

func TestScreenshot(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(at(actortest.Button("Pay"), 1, 2, 30, 40), actortest.Button("Boxless"))
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		take := func(r *domtapv1.ScreenshotRequest) (*domtapv1.ScreenshotResponse, error) {
			r.TabId = tab.GetId()
			return b.pages.Screenshot(t.Context(), r)
		}
		for _, c := range []struct {
			format, want domtapv1.ImageFormat
			image        string
		}{
			{domtapv1.ImageFormat_IMAGE_FORMAT_UNSPECIFIED, domtapv1.ImageFormat_IMAGE_FORMAT_PNG, "png"},
			{domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, domtapv1.ImageFormat_IMAGE_FORMAT_JPEG, "jpeg"},
			{domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, "webp"},
		} {
			got, err := take(&domtapv1.ScreenshotRequest{Format: c.format})
			if err != nil || string(got.GetImage()) != c.image || got.GetFormat() != c.want {
				t.Errorf("%v: %v, %v", c.format, got, err)
			}
		}
		if _, err := take(&domtapv1.ScreenshotRequest{Ref: proto.Uint32(0)}); err != nil {
			t.Errorf("of an element: %v", err)
		}
		_, err := take(&domtapv1.ScreenshotRequest{Ref: proto.Uint32(1)})
		wantCode(t, err, codes.FailedPrecondition, "NOT_ACTIONABLE")
		_, err = take(&domtapv1.ScreenshotRequest{Ref: proto.Uint32(9)})
		wantCode(t, err, codes.InvalidArgument, "INVALID")
	})
}

func TestCountTokens(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		text := "Hello, world! 你好"
		got, err := b.texts.CountTokens(t.Context(), &domtapv1.CountTokensRequest{Text: text})
		if err != nil || int(got.GetTokens()) != tokens.Count(text) || got.GetTokenizer() != "o200k_base" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestFillForm(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		send := actortest.Button("Send")
		send.Type = "submit"
		tab, page := b.shop(actortest.Textbox("Email", "x"), send)
		r := &domtapv1.FillFormRequest{TabId: tab.GetId(), Submit: true, Fields: []*domtapv1.FormField{{Label: "email", Value: "a@b.c"}}}
		got, err := b.act.FillForm(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, one := range got.GetResults() {
			words = append(words, one.GetSummary()+one.GetError())
		}
		if want := []string{`fill "Email": ok`, `click "Send": ok`}; !slices.Equal(words, want) {
			t.Errorf("got %q, want %q", words, want)
		}
		if d := got.GetDiff(); got.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED || d.GetChangedCount() != 1 {
			t.Errorf("got %v, %v", got.GetVerdict(), d)
		}
		if n := len(page.Actions()); n != 2 {
			t.Errorf("%d actions were done", n)
		}
		r.Format, r.Fields[0].Value = domtapv1.Format_FORMAT_DIFF, "d@e.f"
		if got, err = b.act.FillForm(t.Context(), r); err != nil || got.GetDiff() != nil || !strings.Contains(got.GetDiffText(), "value a@b.c → d@e.f") {
			t.Errorf("as text: %v, %v", got, err)
		}
		r.Format = domtapv1.Format_FORMAT_UNSPECIFIED
		// The form is not submitted if a field cannot be filled.
		r.Fields[0].Type = "select"
		if got, err = b.act.FillForm(t.Context(), r); err != nil || got.GetResults()[0].GetReason() != "NOT_ACTIONABLE" || got.GetResults()[1].GetOk() {
			t.Errorf("got %v, %v", got, err)
		}
		for _, bad := range []*domtapv1.FillFormRequest{
			{TabId: tab.GetId()}, {TabId: tab.GetId(), Fields: []*domtapv1.FormField{{}}},
			{TabId: tab.GetId(), Fields: []*domtapv1.FormField{{Label: "x", Selector: "y"}}},
			{TabId: tab.GetId(), Fields: []*domtapv1.FormField{{Label: "x", Value: "y", Values: []string{"z"}}}},
			{TabId: tab.GetId(), Fields: []*domtapv1.FormField{{Label: "x"}}, Format: domtapv1.Format_FORMAT_TREE},
		} {
			_, err := b.act.FillForm(t.Context(), bad)
			wantCode(t, err, codes.InvalidArgument, "")
		}
	})
}

func TestPruneTranscript(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		page := strings.Repeat("[1] Pay (button)\\n", 100)
		message := `{"role":"tool","name":"browser_click","content":"` + page + `"}`
		got, err := b.texts.PruneTranscript(t.Context(), &domtapv1.PruneTranscriptRequest{MessagesJson: "[" + message + "," + message + "]"})
		if err != nil {
			t.Fatal(err)
		}
		want := `[{"role":"tool","name":"browser_click","content":"[DOM content removed - previous page state]"},` + message + "]"
		if got.GetMessagesJson() != want {
			t.Errorf("got %s", got.GetMessagesJson())
		}
		if s := got.GetStats(); s.GetRemoved() != 1 || s.GetSnapshots() != 2 || s.GetMessages() != 2 || s.GetTokensAfter() >= s.GetTokensBefore() || s.GetBytesAfter() != int64(len(want)) {
			t.Errorf("got %v", s)
		}
		for _, r := range []*domtapv1.PruneTranscriptRequest{
			{}, {MessagesJson: "{"}, {MessagesJson: "[]", Keep: proto.Int32(-1)}, {MessagesJson: "[]", Tools: []string{"["}}, {MessagesJson: "[]", MinBytes: proto.Int32(0)},
		} {
			_, err := b.texts.PruneTranscript(t.Context(), r)
			wantCode(t, err, codes.InvalidArgument, "")
		}
	})
}

// If the page stops answering, the call is answered without an error, and the changes are reported as unknown.
func TestAnActionWhosePageHangsIsAnswered(t *testing.T) {
	for method, ok := range map[string]bool{"Settle": true, "Do": false} {
		inBubble(t, Config{}, func(t *testing.T, b *bench) {
			tab, page := b.shop(actortest.Button("Pay"))
			ref := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()}).GetElements()[0].GetRef()
			page.HangOn(method)
			begin := time.Now()
			r, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{
				TabId: tab.GetId(), Format: domtapv1.Format_FORMAT_DIFF, Steps: []*domtapv1.Step{clickOn(&domtapv1.Target{Ref: proto.Uint32(ref)})},
			})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			result := r.GetResults()[0]
			if result.GetOk() != ok || r.GetTab().GetStatus() != domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE || !strings.HasPrefix(r.GetDiffText(), "Changes: not known") {
				t.Errorf("%s: %v", method, r)
			}
			if !ok && (result.GetReason() != "PAGE_UNRESPONSIVE" || result.GetDelivered() != domtapv1.Delivered_DELIVERED_NONE) {
				t.Errorf("%s: %v", method, r)
			}
			page.Resume()
		})
	}
}
