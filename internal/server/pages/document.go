package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/document"
	"github.com/domtap/domtap/internal/content/markdown"
	"github.com/domtap/domtap/internal/server/tabview/textcache"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/truncate"
)

const (
	// maxDocument limits the size of a document, in bytes.
	maxDocument = 64_000_000
	// maxName limits the name of a document in an answer, in characters.
	maxName = 200
)

// readDocument reads a tab whose main document is not a page. It returns nil for a page.
func (s *Service) readDocument(ctx context.Context, tab *actor.Tab, r *domtapv1.ReadPageRequest, markup []driver.Markup) (*domtapv1.ReadPageResponse, error) {
	main := markup[0]
	about := &domtapv1.ReadDocument{MediaType: main.Type, Name: nameOf(main.URL)}
	kind := document.OfType(main.Type, about.GetName())
	about.Kind = domtapv1.DocumentKind(kind)
	source := textcache.Source{Markup: markup, Variant: variantOf(r)}
	switch kind {
	case document.JSON, document.XML, document.CSV, document.Text:
		return s.documentText(ctx, tab, r, source, func() (document.Content, *domtapv1.ReadDocument, error) {
			data := []byte(markdown.RawText(main.HTML))
			about.Size = int64(len(data))
			found, err := convertDocument(kind, data, r)
			found.Truncated = found.Truncated || main.Truncated
			return found, about, err
		})
	case document.Image:
		if r.GetMode() == domtapv1.ReadMode_READ_MODE_CONTENT {
			break
		}
		resp, err := s.readPicture(ctx, tab, r)
		if err == nil {
			resp.Reason, resp.Document = "the document is an image ("+main.Type+")", about
		}
		return resp, err
	}
	if r.GetPath() != "" {
		return nil, noPath(kind)
	}
	if kind == document.PDF && r.GetMode() <= domtapv1.ReadMode_READ_MODE_CONTENT {
		about.Note = viewed
		return &domtapv1.ReadPageResponse{Mode: domtapv1.ReadMode_READ_MODE_CONTENT, Tokenizer: tokens.Name, Url: main.URL, Title: about.GetName(), Document: about}, nil
	}
	return nil, nil
}

// viewed is the note on a PDF that a viewer shows. The viewer is a program of the browser, whose text no script can read.
const viewed = "the browser's viewer shows it: take a screenshot, or download it with a link and read it with download"

// readDownload reads a file that the tab's session has downloaded.
func (s *Service) readDownload(ctx context.Context, tab *actor.Tab, r *domtapv1.ReadPageRequest) (*domtapv1.ReadPageResponse, error) {
	found, err := s.download(tab, r.GetDownload())
	if err != nil {
		return nil, err
	}
	data, err := query.Downloaded(ctx, tab, found.Path, maxDocument)
	if err != nil {
		return nil, err
	}
	about := &domtapv1.ReadDocument{Name: truncate.Runes(found.Filename, maxName), Size: int64(len(data))}
	source := textcache.Source{Markup: []driver.Markup{{URL: found.URL, Title: found.GUID}}, Variant: variantOf(r)}
	return s.documentText(ctx, tab, r, source, func() (document.Content, *domtapv1.ReadDocument, error) {
		kind, mediaType := document.Sniff(found.Filename, http.DetectContentType(data), data)
		about.Kind, about.MediaType = domtapv1.DocumentKind(kind), mediaType
		content, err := s.convertFile(ctx, tab, kind, data, r)
		return content, about, err
	})
}

// convertFile converts a document of any kind.
func (s *Service) convertFile(ctx context.Context, tab *actor.Tab, kind document.Kind, data []byte, r *domtapv1.ReadPageRequest) (document.Content, error) {
	if kind != document.PDF {
		return convertDocument(kind, data, r)
	}
	if r.GetPath() != "" {
		return document.Content{}, noPath(kind)
	}
	text, err := query.PDF(ctx, tab, data)
	if err != nil {
		return document.Content{}, err
	}
	return document.OfPDF(text)
}

// download returns the complete download with a guid or a file name.
func (s *Service) download(tab *actor.Tab, id string) (found tabpool.DownloadRecord, err error) {
	for _, d := range s.Access.DownloadsOf(tab) {
		if d.GUID != id && (d.Path == "" || filepath.Base(d.Path) != id) {
			continue
		}
		switch d.State {
		case driver.Fetching:
			return found, apierr.Errorf(apierr.NotActionable, "the download of %q is in progress (%d bytes so far): read it when it is complete", truncate.Runes(d.Filename, maxName), d.Received)
		case driver.NotFetched:
			return found, apierr.Errorf(apierr.NotActionable, "the download of %q was canceled: %s", truncate.Runes(d.Filename, maxName), d.Reason)
		}
		return d, nil
	}
	return found, apierr.Unknown("download", "the session of tab %s has no download %q: ListDownloads lists them (domtap downloads)", tab.ID(), truncate.Runes(id, maxName))
}

// documentText returns the text of a document, which open converts unless the text is known.
func (s *Service) documentText(ctx context.Context, tab *actor.Tab, r *domtapv1.ReadPageRequest, source textcache.Source,
	open func() (document.Content, *domtapv1.ReadDocument, error)) (*domtapv1.ReadPageResponse, error) {
	text, known := s.texts.Document(tab, source)
	if !known {
		content, about, err := open()
		if err != nil {
			return nil, documentError(err)
		}
		about.Note, about.Pages = content.Note, int32(content.Pages)
		main := source.Markup[0]
		main.HTML, main.Whole, main.Truncated, main.Title = content.HTML, true, content.Truncated, about.GetName()
		text = s.texts.KeepDocument(tab, source, append([]driver.Markup{main}, source.Markup[1:]...), about, r.GetDownload() != "")
	}
	s.accountText(ctx, tab, known, false)
	resp := textMessage(text, markdown.Position{}, budgetOf(r))
	resp.Outline = outlineMessages(text)
	return resp, nil
}

// convertDocument converts a document that is no PDF.
func convertDocument(kind document.Kind, data []byte, r *domtapv1.ReadPageRequest) (document.Content, error) {
	whole := r.GetMode() == domtapv1.ReadMode_READ_MODE_CONTENT
	if kind == document.JSON {
		return document.OfJSON(data, r.GetPath(), whole)
	}
	if r.GetPath() != "" {
		return document.Content{}, noPath(kind)
	}
	switch kind {
	case document.CSV:
		return document.OfCSV(data), nil
	case document.XML:
		return document.OfXML(data), nil
	case document.Text, document.HTML:
		return document.Plain(data), nil
	case document.Image:
		return document.Content{Note: "an image, which has no text"}, nil
	}
	return document.Content{Note: "no text can be read from a file of this type"}, nil
}

func noPath(kind document.Kind) error {
	return &apierr.Error{Kind: apierr.Invalid, Field: "path", Message: fmt.Sprintf("only JSON documents have paths: this is %s", kind)}
}

// documentError returns the error of a conversion for the client. Errors of the tab and of the call's context are returned as they are.
func documentError(err error) error {
	if errors.Is(err, document.ErrNoValue) {
		return apierr.Unknown("path", "%s", err)
	}
	if _, ok := errors.AsType[*apierr.Error](err); ok || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return &apierr.Error{Kind: apierr.Invalid, Field: "path", Message: "the document cannot be read: " + err.Error()}
}

// variantOf distinguishes the texts of one document.
func variantOf(r *domtapv1.ReadPageRequest) string {
	if r.GetMode() == domtapv1.ReadMode_READ_MODE_CONTENT {
		return "whole " + r.GetPath()
	}
	return r.GetPath()
}

// nameOf returns the file name in a URL.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
		return ""
	}
	return truncate.Runes(path.Base(u.Path), maxName)
}
