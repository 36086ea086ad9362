package capture

import (
	"context"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdpio "github.com/chromedp/cdproto/io"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// printChunk is the size of a part of a PDF that one response carries, in bytes. Between the parts, responses for other tabs can be sent.
const printChunk = 512 << 10

// Print returns the page as a PDF; see driver.Capturer.
func (c *Capture) Print(ctx context.Context, paper driver.PrintOptions) ([]byte, error) {
	if err := c.Unmasked("a PDF would show masked content: take a screenshot, or use a session without --mask"); err != nil {
		return nil, err
	}
	return c.guarded(ctx, func() ([]byte, error) { return c.print(ctx, paper) })
}

// print prints a page without masks.
func (c *Capture) print(ctx context.Context, paper driver.PrintOptions) ([]byte, error) {
	params := cdppage.PrintToPDFParams{
		Landscape: &paper.Landscape, PrintBackground: &paper.Graphics, Scale: paper.Scale, PaperWidth: paper.Width,
		PaperHeight: paper.Height, PageRanges: paper.Ranges, TransferMode: cdppage.PrintToPDFTransferModeReturnAsStream,
	}
	free := func(stream cdpio.StreamHandle) {
		c.m.Main.Post(c.m.Life, cdpio.CommandClose, cdpio.CloseParams{Handle: stream})
	}
	res, _, err := devtools.Create(ctx, c.m.Main, cdppage.PrintToPDF, params, func(_ context.Context, late cdppage.PrintToPDFResult) { free(late.Stream) })
	if err != nil {
		var refused *cdproto.Error
		if paper.Ranges != "" && errors.As(err, &refused) {
			return nil, &apierr.Error{Kind: apierr.Invalid, Field: "page_ranges", Message: fmt.Sprintf("the browser did not print the pages %q: leave page_ranges empty, or name existing pages", paper.Ranges), Err: err}
		}
		return nil, c.m.Failed(err)
	}
	defer free(res.Stream)
	return c.stream(ctx, res.Stream, paper.Limit)
}

// stream reads a stream that the browser holds for us.
func (c *Capture) stream(ctx context.Context, handle cdpio.StreamHandle, limit int) ([]byte, error) {
	var out []byte
	for {
		part, err := cdp.Call(ctx, c.m.Main, cdpio.Read, cdpio.ReadParams{Handle: handle, Size: printChunk})
		if err != nil {
			return nil, c.m.Failed(err)
		}
		if len(out)+len(part.Data) > limit {
			return nil, apierr.Exceeded("pdf_bytes", limit, "the PDF is larger than %d MB: print it in parts, with page_ranges", limit/1_000_000)
		}
		out = append(out, part.Data...)
		if part.EOF {
			return out, nil
		}
	}
}
