//go:build unix

package peers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// both adds the tokens and the time of a reply to two rows. id and title are the start of the rows' ids and titles.
func (b *book) both(t *tool, group, id, title string, got reply) {
	b.put(t, Row{ID: id + "-tokens", Title: title, Group: group, Unit: Tokens}, float64(got.tokens))
	b.put(t, Row{ID: id + "-ms", Title: title, Group: group, Unit: Milliseconds}, milliseconds(got.took))
}

// read opens a page, reads all of it, and reads it again. Like the other measures, it reports whether the program still answers.
func (r *runner) read(ctx context.Context, t *tool, n int) bool {
	id, title := fmt.Sprintf("read-%d", n), fmt.Sprintf("open a page of %s controls and read it", count(n))
	got, err := t.read(ctx, r.address(fmt.Sprintf("/list?n=%d", n)))
	if err != nil {
		r.fail(ctx, t, Row{ID: id + "-tokens", Title: title, Group: "Read", Unit: Tokens}, err)
		return false
	}
	r.both(t, "Read", id, title, got)
	r.put(t, Row{ID: id + "-calls", Title: title, Group: "Read", Unit: Calls}, float64(got.calls))
	seen := 0
	for _, name := range names(n) {
		if strings.Contains(got.text, name) {
			seen++
		}
	}
	r.put(t, Row{ID: fmt.Sprintf("recall-%d", n), Title: fmt.Sprintf("names of %s controls that the answers contain", count(n)), Group: "Read", Unit: Percent}, 100*float64(seen)/float64(n))
	id, title = fmt.Sprintf("again-%d", n), fmt.Sprintf("read the %s controls again, unchanged", count(n))
	got, err = t.must(ctx, t.again()...)
	if err != nil {
		r.fail(ctx, t, Row{ID: id + "-tokens", Title: title, Group: "Read", Unit: Tokens}, err)
		return false
	}
	r.both(t, "Read", id, title, got)
	return true
}

// act clicks a button and requests the result in the way that the program's documentation recommends.
func (r *runner) act(ctx context.Context, t *tool, n int, plain bool) bool {
	button := 4 * (r.pages % (n / 4))
	act := clicking{
		id: fmt.Sprintf("act-%d", n), title: fmt.Sprintf("click one of %s controls and read the result, in a status region", count(n)),
		path: fmt.Sprintf("/list?n=%d", n), name: names(n)[button], want: fmt.Sprintf("Archived %05d", button),
	}
	if plain {
		act.id, act.path = act.id+"-plain", act.path+"&plain=1"
		act.title = strings.TrimSuffix(act.title, "a status region") + "plain text"
	}
	return r.know(ctx, t, act)
}

// clicking is a click and its expected result.
type clicking struct {
	id, title        string
	path, name, want string
}

// know clicks the named element and measures until the answers contain a text.
func (r *runner) know(ctx context.Context, t *tool, c clicking) bool {
	row := Row{ID: c.id + "-tokens", Title: c.title, Group: "Act", Unit: Tokens}
	page, err := t.read(ctx, r.address(c.path))
	if err == nil {
		err = r.ready(ctx, t, c.path, false)
	}
	ref := ""
	if err == nil {
		if ref = t.ref(page.text, c.name); ref == "" {
			r.fail(ctx, t, row, fmt.Errorf("the page as it was read does not show %q", c.name))
			return true
		}
	}
	var got reply
	for i, calls := 0, t.spec.know(ref); err == nil && (i == 0 || !strings.Contains(got.text, c.want)); i++ {
		if i == len(calls) {
			r.fail(ctx, t, row, fmt.Errorf("%d answers do not have %q; the last is %q", i, c.want, firstLine(got.text)))
			return true
		}
		var part reply
		part, err = t.must(ctx, calls[i])
		got = reply{text: got.text + part.text, tokens: got.tokens + part.tokens, calls: got.calls + part.calls, took: got.took + part.took}
	}
	if err != nil {
		r.fail(ctx, t, row, err)
		return false
	}
	r.both(t, "Act", c.id, c.title, got)
	r.put(t, Row{ID: c.id + "-calls", Title: c.title, Group: "Act", Unit: Calls}, float64(got.calls))
	return true
}

// ready reads a page with its texts if the program needs that. alone reports that the page will change without an action.
func (r *runner) ready(ctx context.Context, t *tool, path string, alone bool) error {
	if t.prepare == nil || len(t.prepare(alone)) == 0 {
		return nil
	}
	got, err := t.whole(ctx, t.prepare(alone))
	if err == nil && strings.HasPrefix(path, "/list?n=1000") {
		r.put(t, Row{ID: "texts-tokens", Title: "read 1,000 controls with all texts, once: needed before a program reports changes of texts", Group: "Read", Unit: Tokens}, float64(got.tokens))
	}
	return err
}

// learn lets the page change without an action and measures until the program has reported the change. Then it waits for a text that is
// known in advance.
func (r *runner) learn(ctx context.Context, t *tool, n int) bool {
	// Each page has its own stream, because the stream of the previous page may not be closed yet.
	id := fmt.Sprint("page", r.pages)
	title := fmt.Sprintf("notice a change that a page of %s controls made by itself", count(n))
	row := Row{ID: "learn-tokens", Title: title, Group: "Follow", Unit: Tokens}
	path := fmt.Sprintf("/list?n=%d&id=%s", n, id)
	_, err := t.read(ctx, r.address(path))
	if err == nil {
		err = r.ready(ctx, t, path, true)
	}
	if err != nil {
		r.fail(ctx, t, row, err)
		return false
	}
	news := fmt.Sprintf("Order %05d has left the warehouse", r.pages)
	got, err := r.follow(ctx, t, id, news, t.waits, t.spec.learn())
	if err != nil {
		r.fail(ctx, t, row, err)
		return false
	}
	r.both(t, "Follow", "learn", title, got)
	news = fmt.Sprintf("Order %05d has arrived", r.pages)
	title = "wait for a known text, from the change on"
	if got, err = r.follow(ctx, t, id, news, true, t.wait(news)); err != nil {
		r.fail(ctx, t, Row{ID: "wait-tokens", Title: title, Group: "Follow", Unit: Tokens}, err)
		return false
	}
	r.both(t, "Follow", "wait", title, got)
	return true
}

// follow makes calls until their answers contain the news that the page receives. If waits is set, the first call waits for the news:
// follow sends the news during the call and measures from that time. Otherwise the page shows the news before the first call, and follow
// measures from that call.
func (r *runner) follow(ctx context.Context, t *tool, id, news string, waits bool, calls []call) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	var all reply
	told := make(chan error, 1)
	var changed time.Time
	tell := func() {
		if waits {
			time.Sleep(headStart)
		}
		changed = time.Now()
		err := r.site.tell(ctx, id, news, !waits)
		if !waits {
			changed = time.Now()
		}
		told <- err
	}
	if waits {
		go tell()
	} else {
		tell()
	}
	const looks = 20
	for i := range looks {
		got, err := t.must(ctx, calls[min(i, len(calls)-1)])
		if i == 0 {
			if e := <-told; err == nil {
				err = e
			}
		}
		all.text, all.tokens, all.calls, all.took = all.text+got.text, all.tokens+got.tokens, all.calls+got.calls, time.Since(changed)
		if err != nil {
			return all, err
		}
		// An answer need not repeat a text that the call waited for.
		if strings.Contains(got.text, news) || strings.Contains(calls[0].String(), news) {
			return all, nil
		}
	}
	return all, fmt.Errorf("%d answers do not have %q; the last is %s", looks, news, firstLine(all.text))
}

// applications reads the applications of the repository and acts on two of them.
func (r *runner) applications(ctx context.Context, t *tool) bool {
	files, _ := filepath.Glob(filepath.Join(r.Root, "e2e", "tasks", "apps", "*.html")) // the pattern is valid
	title := fmt.Sprintf("open and read the %d applications of e2e/tasks", len(files))
	var all reply
	for _, file := range files {
		got, err := t.read(ctx, r.address("/"+filepath.Base(file)))
		if err != nil {
			r.fail(ctx, t, Row{ID: "tasks-tokens", Title: title, Group: "Applications", Unit: Tokens}, err)
			return false
		}
		all.tokens, all.took = all.tokens+got.tokens, all.took+got.took
	}
	r.both(t, "Applications", "tasks", title, all)
	// A button appears in the first one, and a number changes in the second.
	for _, app := range []struct{ id, name, box, want string }{{"react", "React", "Done: Buy milk", "Clear completed (1)"}, {"vue", "Vue", "Buy milk", "2 left"}} {
		if built, _ := filepath.Glob(filepath.Join(r.Root, ".cache", "apps", "dist", app.id+".js")); built == nil {
			continue
		}
		title := "check an item of a to-do list made with " + app.name + ", and read what changed"
		if !r.know(ctx, t, clicking{id: app.id, title: title, path: "/apps/" + app.id, name: app.box, want: app.want}) {
			return false
		}
	}
	return true
}

// trouble tests each program on pages that fail, each with a new browser.
func (r *runner) trouble(ctx context.Context) {
	r.say("what goes wrong")
	for _, t := range r.tools {
		for _, do := range []func(context.Context, *tool){r.stale, r.alert, r.hang} {
			if ctx.Err() != nil {
				return
			}
			do(ctx, t)
			r.stop(ctx, t)
			t.limit = callLimit
		}
	}
}

// meet opens a page in a new browser and returns the ref of a button. If that fails, it records the failure in the row and returns an empty
// string.
func (r *runner) meet(ctx context.Context, t *tool, row Row, path, name string) string {
	page, err := r.start(ctx, t, path)
	if err != nil {
		r.fail(ctx, t, row, err)
		return ""
	}
	ref := t.ref(page.text, name)
	if ref == "" {
		r.fail(ctx, t, row, fmt.Errorf("the page as it was read does not show %q", name))
	}
	return ref
}

// stale clicks a button that was replaced by another one.
func (r *runner) stale(ctx context.Context, t *tool) {
	row := Row{ID: "stale", Title: "click a ref whose button was replaced by another", Group: "Trouble", Unit: Text}
	ref := r.meet(ctx, t, row, "/stale", "Next")
	if ref == "" {
		return
	}
	if _, err := t.must(ctx, t.click(ref)...); err != nil {
		r.fail(ctx, t, row, err)
		return
	}
	before := r.site.wrongClicks()
	got, err := t.do(ctx, t.click(ref)...)
	time.Sleep(settle) // the page reports clicks to the server asynchronously
	switch {
	case r.site.wrongClicks() > before:
		r.write(t, row, "clicks the other button")
	case err != nil:
		r.write(t, row, fmt.Sprintf("no answer in %s", t.limit))
	case got.failed:
		r.write(t, row, fmt.Sprintf("refused after %s: %s", seconds(got.took), said(got)))
	default:
		r.write(t, row, fmt.Sprintf("says after %s that it was clicked, and nothing was", seconds(got.took)))
	}
}

// alert clicks a button that opens an alert.
func (r *runner) alert(ctx context.Context, t *tool) {
	row := Row{ID: "alert", Title: "click a button that opens an alert", Group: "Trouble", Unit: Text}
	ref := r.meet(ctx, t, row, "/alert", "Pay")
	if ref == "" {
		return
	}
	got, err := t.do(ctx, t.click(ref)...)
	switch {
	case err != nil:
		r.write(t, row, fmt.Sprintf("no answer in %s", t.limit))
		return
	case strings.Contains(got.text, alertText):
		r.write(t, row, fmt.Sprintf("has the text of the alert after %s", seconds(got.took)))
		return
	}
	look, err := t.do(ctx, t.look()...)
	if err == nil && strings.Contains(look.text, alertText) {
		r.write(t, row, fmt.Sprintf("answers after %s; the next look has the text of the alert", seconds(got.took)))
		return
	}
	r.write(t, row, fmt.Sprintf("answers after %s, and neither that nor the next look has the text of the alert: %s", seconds(got.took), said(got)))
}

// hang clicks a button after which the page hangs, and then reads the page.
func (r *runner) hang(ctx context.Context, t *tool) {
	row := Row{ID: "hang-click", Title: "click a button after which the page hangs", Group: "Trouble", Unit: Text}
	ref := r.meet(ctx, t, row, "/hang", "Compute")
	if ref == "" {
		return
	}
	t.limit = hangLimit
	if r.Short {
		t.limit = hangShort
	}
	answer := func(calls []call) string {
		got, err := t.do(ctx, calls...)
		lower := strings.ToLower(got.text)
		hangs := strings.Contains(lower, "does not answer") || strings.Contains(lower, "stopped answering") || strings.Contains(lower, "stopped responding") || strings.Contains(lower, "not responding")
		switch {
		case err != nil && ctx.Err() == nil:
			return fmt.Sprintf("no answer in %s", t.limit)
		case err != nil:
			return "not measured: the run was ended"
		case hangs:
			return fmt.Sprintf("says after %s that the page does not respond: %s", seconds(got.took), said(got))
		case got.failed:
			return fmt.Sprintf("an error after %s: %s", seconds(got.took), said(got))
		default:
			return fmt.Sprintf("an answer after %s: %s", seconds(got.took), said(got))
		}
	}
	r.write(t, row, answer(t.click(ref)))
	r.write(t, Row{ID: "hang-look", Title: "read the page that hangs", Group: "Trouble", Unit: Text}, answer(t.look()))
}

// said returns the first line of an answer in quotation marks.
func said(got reply) string { return fmt.Sprintf("“%s”", firstLine(got.text)) }

// seconds formats a duration.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// count formats a number with a comma for thousands.
func count(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
	}
	return fmt.Sprint(n)
}
