// Package pdfreader reads the text of PDFs with PDF.js, in a hidden page of the browser.
//
// The bytes are hostile. Only the sandboxed renderer of the hidden page parses them; the page makes no requests, and it is closed after
// each document. Size, pages, text and time are bounded. Package document makes text of the result.
package pdfreader

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/hidden"
)

// Limits of one document.
const (
	// maxTime limits the time for a document. The pages that were read by then are returned.
	maxTime = 45 * time.Second
	// maxPages limits the pages, maxItems and maxLinks the pieces of text and the links of a page, and maxText the characters of all pages
	// with their links. A piece or a link costs as many characters as its positions need, in addition to its own.
	maxPages = 5000
	maxItems = 50_000
	maxLinks = 2000
	maxText  = 20_000_000
	cost     = 20
	// chunk is the number of bytes that one command carries, and enough the number of characters after which one answer ends.
	chunk  = 3 << 20
	enough = 500_000
	// batch is the number of pages that are read in one call, so that the time limit is noticed between calls.
	batch = 25
)

//go:generate go test -run Bundle -update .

//go:embed pdfjs.js.gz
var bundled []byte

//go:embed reader.js
var source string

// bundle returns the script of PDF.js.
var bundle = sync.OnceValues(func() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(bundled))
	if err != nil {
		return "", fmt.Errorf("unpacking PDF.js: %w", err)
	}
	script, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("unpacking PDF.js: %w", err)
	}
	return string(script), nil
})

// file is what the reader's open returns.
type file struct {
	Pages   int    `json:"pages"`
	Title   string `json:"title"`
	Problem string `json:"problem"`
}

// Text is the text of a PDF with its positions. Package document reads its JSON.
type Text struct {
	// Pages is the number of pages of the document.
	Pages int    `json:"pages"`
	Title string `json:"title,omitempty"`
	// Problem is "password", "damaged" or "slow" if the document cannot be opened.
	Problem string `json:"problem,omitempty"`
	// Read holds the pages that were read, from the first.
	Read []json.RawMessage `json:"read"`
}

// limits are the arguments of the reader's read.
type limits struct {
	Items int `json:"items"`
	Links int `json:"links"`
	Cost  int `json:"cost"`
	Left  int `json:"left"`
}

// Read reads a document in a hidden page of a context. It returns the JSON of a Text. A document that cannot be opened is no error.
func Read(ctx context.Context, root devtools.Session, in cdp.BrowserContextID, data []byte) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	page, err := hidden.Open(ctx, root, in)
	if err != nil {
		return nil, err
	}
	defer page.Close(ctx)
	r := reader{page: page}
	opened, err := r.open(bounded, data)
	if err != nil {
		if ctx.Err() == nil && bounded.Err() != nil {
			return json.Marshal(Text{Problem: "slow", Read: []json.RawMessage{}})
		}
		return nil, fmt.Errorf("opening a PDF: %w", err)
	}
	text := Text{Pages: opened.Pages, Title: opened.Title, Problem: opened.Problem, Read: []json.RawMessage{}}
	left := maxText
	for len(text.Read) < min(opened.Pages, maxPages) && left > 0 {
		var got struct {
			Pages []json.RawMessage `json:"pages"`
			Left  int               `json:"left"`
		}
		first := len(text.Read) + 1
		err := r.call(bounded, &got, "read", first, min(first+batch-1, opened.Pages), limits{Items: maxItems, Links: maxLinks, Cost: cost, Left: left}, enough)
		if err != nil {
			if ctx.Err() != nil || bounded.Err() == nil && first == 1 {
				return nil, fmt.Errorf("reading a PDF: %w", err)
			}
			break // the pages until now are an answer
		}
		if len(got.Pages) == 0 {
			break
		}
		text.Read, left = append(text.Read, got.Pages...), got.Left
	}
	return json.Marshal(text)
}

type reader struct {
	page *hidden.Page
	// object is the reader in the page.
	object runtime.RemoteObjectID
}

// open loads the reader and opens a document.
func (r *reader) open(ctx context.Context, data []byte) (opened file, err error) {
	script, err := bundle()
	if err != nil {
		return opened, err
	}
	for _, part := range []string{script, source} {
		made, err := cdp.Call(ctx, r.page.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: part})
		if err != nil {
			return opened, err
		}
		if made.ExceptionDetails != nil {
			return opened, fmt.Errorf("its script failed: %v", made.ExceptionDetails)
		}
		r.object = made.Result.ObjectID
	}
	for len(data) > 0 {
		n := min(chunk, len(data))
		if err := r.call(ctx, nil, "add", base64.StdEncoding.EncodeToString(data[:n])); err != nil {
			return opened, err
		}
		data = data[n:]
	}
	return opened, r.call(ctx, &opened, "open")
}

// call is a call of a method of the reader.
type call struct {
	FunctionDeclaration string                 `json:"functionDeclaration"`
	ObjectID            runtime.RemoteObjectID `json:"objectId"`
	Arguments           []argument             `json:"arguments"`
	ReturnByValue       bool                   `json:"returnByValue"`
	AwaitPromise        bool                   `json:"awaitPromise"`
}

type argument struct {
	Value any `json:"value"`
}

// call calls a method of the reader, which returns JSON, and decodes it into result.
func (r *reader) call(ctx context.Context, result any, method string, arguments ...any) error {
	c := call{FunctionDeclaration: "function (method, ...args) { return this[method](...args) }", ObjectID: r.object,
		Arguments: []argument{{method}}, ReturnByValue: true, AwaitPromise: true}
	for _, one := range arguments {
		c.Arguments = append(c.Arguments, argument{one})
	}
	var reply devtools.Evaluation
	if err := r.page.Session.Call(ctx, runtime.CommandCallFunctionOn, c, &reply); err != nil {
		return err
	}
	var text string
	if err := reply.Decode(&text); err != nil || result == nil {
		return err
	}
	return json.Unmarshal([]byte(text), result)
}
