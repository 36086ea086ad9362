package input

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
)

// fileInputInfo is the result of the command "fileTerms".
type fileInputInfo struct {
	Error string `json:"error"`
	// Input reports whether there is a file input. Multiple reports whether it accepts several files, and Folder whether it wants a folder.
	Input    bool `json:"input"`
	Multiple bool `json:"multiple"`
	Folder   bool `json:"folder"`
}

// do uploads files: to a file input, through a file chooser that a click opens, or by a drop.
func (t *upload) do(ctx context.Context) (driver.DoResult, error) {
	s := t.action.Location
	agent, _, err := t.ready(ctx, s, resolveRequest{Need: "node"})
	if err != nil {
		return driver.DoResult{}, err
	}
	var takes fileInputInfo
	ref := map[string]any{"ref": uint32(s.Ref), "known": expectedElementOf(s)}
	if err := call(ctx, agent, "fileTerms", ref, &takes); err != nil {
		return driver.DoResult{}, err
	}
	if takes.Error != "" {
		return driver.DoResult{}, t.refusal(s, outcome.Element{Error: takes.Error})
	}
	if !takes.Input {
		return t.uploadByClick(ctx, agent)
	}
	if err := t.accepts(s, takes.Multiple, takes.Folder); err != nil {
		return driver.DoResult{}, err
	}
	paths, err := t.paths()
	if err != nil {
		return driver.DoResult{}, err
	}
	object, err := agent.Handle(ctx, "fileInput", ref)
	if err != nil {
		return driver.DoResult{}, err
	}
	if object == "" {
		return driver.DoResult{}, t.refusal(s, outcome.Element{Error: "stale"})
	}
	return t.give(ctx, agent.Session(), paths, cdpdom.SetFileInputFilesParams{ObjectID: object})
}

// accepts checks that an input accepts the action's files.
func (t *upload) accepts(s driver.Location, multiple, folder bool) error {
	switch {
	case folder:
		return t.refusal(s, outcome.Element{Error: "folder"})
	case !multiple && len(t.action.Paths)+len(t.action.Files) > 1:
		return t.refusal(s, outcome.Element{Error: "one file"})
	}
	return nil
}

// give sets the files of an input. The note names files that do not match the input's accept attribute, which the page may reject.
func (t *upload) give(ctx context.Context, session devtools.Session, paths []string, to cdpdom.SetFileInputFilesParams) (driver.DoResult, error) {
	node, err := cdp.Call(ctx, session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: to.ObjectID, BackendNodeID: to.BackendNodeID})
	if err != nil {
		return driver.DoResult{}, err
	}
	to.Files = paths
	if err := session.Run(ctx, devtools.Step{Method: cdpdom.CommandSetFileInputFiles, Params: to}); err != nil {
		return driver.DoResult{}, err
	}
	accept := ""
	for pair := range slices.Chunk(node.Node.Attributes, 2) {
		if pair[0] == "accept" {
			accept = pair[1]
		}
	}
	return driver.DoResult{Detail: outcome.Uploaded(accept, paths)}, nil
}

// uploadByClick clicks the element and answers the file chooser. If none opens, it drops the files on the element.
func (t *upload) uploadByClick(ctx context.Context, agent Agent) (driver.DoResult, error) {
	s := t.action.Location
	opened, stop := t.page.Expect(cdppage.FileChooserOpened.Method)
	defer stop()
	paths, err := t.paths()
	if err != nil {
		return driver.DoResult{}, err
	}
	if _, err := t.click(ctx); err != nil {
		return driver.DoResult{}, err
	}
	chooser, err := t.chooser(ctx, opened, chooserWait)
	if err == nil && chooser == nil {
		var dropped dropped
		if dropped, err = t.drop(ctx, agent, paths); err != nil {
			return driver.DoResult{}, err
		}
		switch dropped {
		case dropTaken:
			return driver.DoResult{Detail: "ok, dropped on it"}, nil
		case dropIgnored:
			return driver.DoResult{Delivered: driver.DeliveredPart}, t.refusal(s, outcome.Element{Error: "ignored drop"})
		}
		chooser, err = t.chooser(ctx, opened, time.Until(t.deadline))
	}
	if err != nil {
		return driver.DoResult{}, err
	}
	if chooser == nil || chooser.BackendNodeID == 0 {
		return driver.DoResult{}, t.refusal(s, outcome.Element{Error: "no chooser"})
	}
	if err := t.accepts(s, chooser.Mode == cdppage.FileChooserOpenedModeSelectMultiple, false); err != nil {
		return driver.DoResult{}, err
	}
	return t.give(ctx, agent.Session(), paths, cdpdom.SetFileInputFilesParams{BackendNodeID: chooser.BackendNodeID})
}

// chooserWait is how long a click may take to open a file chooser before a drop is tried.
const chooserWait = 500 * time.Millisecond

// chooser waits for the file chooser that a click opens. It returns nil if none opens in time.
func (t *upload) chooser(ctx context.Context, opened <-chan *cdproto.Message, within time.Duration) (*cdppage.EventFileChooserOpened, error) {
	limit := time.NewTimer(max(within, 0))
	defer limit.Stop()
	select {
	case msg := <-opened:
		e, err := devtools.DecodeEvent(msg, cdppage.FileChooserOpened)
		if err != nil {
			return nil, fmt.Errorf("reading the file chooser: %w", err)
		}
		return &e, nil
	case <-limit.C:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// dropped is the result of dropping files on an element.
type dropped int

const (
	// notDropped means that the page allows no drop there.
	notDropped dropped = iota
	// dropIgnored means that the page received the drop, and shows nothing of it.
	dropIgnored
	// dropTaken means that the page has changed since the drop, or has sent a request.
	dropTaken
)

// drop drops files on the element, if the page allows it.
func (t *upload) drop(ctx context.Context, agent Agent, paths []string) (dropped, error) {
	var over, drop fileDrag
	if err := call(ctx, agent, "beginFileDrag", nil, nil); err != nil {
		return notDropped, err
	}
	defer func() {
		if ctx.Err() == nil { // otherwise the page may hang, and the caller has gone
			_ = call(ctx, agent, "endFileDrag", nil, nil) // fails if the page has navigated
		}
	}()
	at, err := t.destination(ctx, t.action.Location, driver.At(dom.NoRef))
	if err != nil {
		return notDropped, err
	}
	files := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: copyOperation}
	if err := t.dragOver(ctx, at, files, true); err != nil {
		return notDropped, err
	}
	if err := call(ctx, agent, "fileDragSeen", map[string]any{"type": "dragover"}, &over); err != nil {
		return notDropped, err
	}
	if !over.Prevented {
		return notDropped, t.page.Main().Run(ctx, dragEvent(input.DispatchDragEventTypeDragCancel, at, files))
	}
	if err := t.page.Main().Run(ctx, dragEvent(input.DispatchDragEventTypeDrop, at, files)); err != nil {
		return notDropped, err
	}
	if err := call(ctx, agent, "fileDragSeen", map[string]any{"type": "drop"}, &drop); err != nil {
		return dropTaken, ctx.Err() // the drop was sent, and the page may have navigated because of it
	}
	if !drop.Heard {
		return notDropped, nil
	}
	var answer struct {
		Taken bool `json:"taken"`
	}
	if err := call(ctx, agent, "filesTaken", nil, &answer); err == nil && !answer.Taken {
		return dropIgnored, nil
	}
	return dropTaken, ctx.Err()
}

// fileDrag is the result of the command "fileDragSeen".
type fileDrag struct {
	Heard     bool `json:"heard"`
	Prevented bool `json:"prevented"`
}

// copyOperation is the operation of a file drag.
const copyOperation = 1

// paths returns the files to upload, after writing the files of the request to disk. The page may read them until it is closed, so they are
// kept until then.
func (t *upload) paths() ([]string, error) {
	paths := append([]string{}, t.action.Paths...)
	if len(t.action.Files) == 0 {
		return paths, nil
	}
	dir, err := t.page.Folder()
	if err != nil {
		return nil, fmt.Errorf("making a folder for the files: %w", err)
	}
	for i, f := range t.action.Files {
		// Each file gets its own folder, because two may have the same name.
		path := filepath.Join(dir, fmt.Sprint(i), filepath.Base(filepath.Clean("/"+f.Name)))
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("making a folder for a file: %w", err)
		}
		if err := os.WriteFile(path, f.Content, 0o600); err != nil {
			return nil, fmt.Errorf("writing a file to upload: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
