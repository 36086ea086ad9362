package input

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto"
	cdpdom "github.com/chromedp/cdproto/dom"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
)

// terms is the answer of the command "fileTerms".
type terms struct {
	Error string `json:"error"`
	// Input says that there is a file input, which takes several files, or a folder.
	Input    bool `json:"input"`
	Multiple bool `json:"multiple"`
	Folder   bool `json:"folder"`
}

// upload gives files to a file input, or to what opens a file chooser.
func (t *upload) do(ctx context.Context) (driver.DoResult, error) {
	s := t.action.Spot
	agent, _, err := t.ready(ctx, s, resolveRequest{Need: "node"})
	if err != nil {
		return driver.DoResult{}, err
	}
	var takes terms
	ref := map[string]any{"ref": uint32(s.Ref), "known": knownOf(s)}
	if err := call(ctx, agent, "fileTerms", ref, &takes); err != nil {
		return driver.DoResult{}, err
	}
	if takes.Error != "" {
		return driver.DoResult{}, t.refusal(s, outcome.Element{Error: takes.Error})
	}
	if !takes.Input {
		return t.uploadByChooser(ctx, agent)
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
	return driver.DoResult{}, agent.Session().Run(ctx, devtools.Step{Method: cdpdom.CommandSetFileInputFiles,
		Params: cdpdom.SetFileInputFilesParams{Files: paths, ObjectID: object}})
}

// accepts checks that an input takes the files that there are.
func (t *upload) accepts(s driver.Spot, multiple, folder bool) error {
	switch {
	case folder:
		return t.refusal(s, outcome.Element{Error: "folder"})
	case !multiple && len(t.action.Paths)+len(t.action.Files) > 1:
		return t.refusal(s, outcome.Element{Error: "one file"})
	}
	return nil
}

// uploadByChooser clicks what opens a file chooser, and answers that.
func (t *upload) uploadByChooser(ctx context.Context, agent Agent) (driver.DoResult, error) {
	s := t.action.Spot
	opened, stop := t.page.Expect(cdppage.FileChooserOpened.Method)
	defer stop()
	if _, err := t.click(ctx); err != nil {
		return driver.DoResult{}, err
	}
	chooser, err := t.chooser(ctx, s, opened)
	if err != nil {
		return driver.DoResult{}, err
	}
	if err := t.accepts(s, chooser.Mode == cdppage.FileChooserOpenedModeSelectMultiple, false); err != nil {
		return driver.DoResult{}, err
	}
	if chooser.BackendNodeID == 0 {
		return driver.DoResult{}, t.refusal(s, outcome.Element{Error: "no chooser"})
	}
	paths, err := t.paths()
	if err != nil {
		return driver.DoResult{}, err
	}
	return driver.DoResult{}, agent.Session().Run(ctx, devtools.Step{Method: cdpdom.CommandSetFileInputFiles,
		Params: cdpdom.SetFileInputFilesParams{Files: paths, BackendNodeID: chooser.BackendNodeID}})
}

// chooser waits for the file chooser that a click opens.
func (t *upload) chooser(ctx context.Context, s driver.Spot, opened <-chan *cdproto.Message) (e cdppage.EventFileChooserOpened, err error) {
	limit := time.NewTimer(max(time.Until(t.deadline), 500*time.Millisecond))
	defer limit.Stop()
	select {
	case msg := <-opened:
		if e, err = devtools.DecodeEvent(msg, cdppage.FileChooserOpened); err != nil {
			return e, fmt.Errorf("reading the file chooser: %w", err)
		}
		return e, nil
	case <-limit.C:
		return e, t.refusal(s, outcome.Element{Error: "no chooser"})
	case <-ctx.Done():
		return e, context.Cause(ctx)
	}
}

// paths are the files to give, after those that came with the request were written down. The page reads them when it
// sends them, so they stay until it is closed.
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
		// A folder each, for two may have one name.
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
