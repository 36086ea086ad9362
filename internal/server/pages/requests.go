package pages

import (
	"context"
	"errors"
	"fmt"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/query"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/har"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

const (
	// defaultBody is the default of max_body_bytes.
	defaultBody = 256 << 10
	// maxBodies limits the total size of the bodies of an archive, in bytes.
	maxBodies = 16 << 20
)

// GetRequest returns one request of the log and, if requested, the body of its response.
func (s *Service) GetRequest(ctx context.Context, r *domtapv1.GetRequestRequest) (*domtapv1.GetRequestResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	found, known := tab.Log().Request(r.GetRequestId())
	if !known || found.Detail == nil {
		return nil, apierr.Unknown("request", "the log of tab %s has no request %d with its headers: ReadLog lists the requests (domtap log --network)", tab.ID(), r.GetRequestId())
	}
	resp := requestMessage(found)
	if !r.GetBody() {
		return resp, nil
	}
	body, missing, err := s.body(ctx, tab, found)
	if err != nil {
		return nil, err
	}
	resp.BodySize, resp.BodyMissing = int64(len(body)), missing
	most := bodyLimit(r.MaxBodyBytes)
	resp.Body, resp.BodyTruncated = body[:min(len(body), most)], len(body) > most
	return resp, nil
}

func bodyLimit(asked *int32) int {
	if asked != nil {
		return int(*asked)
	}
	return defaultBody
}

// body reads the body of a response. If there is none, missing is the reason.
func (s *Service) body(ctx context.Context, tab *actor.Tab, found pagelog.Requested) (body []byte, missing string, err error) {
	switch {
	case found.Failed != "":
		return nil, "the request failed", nil
	case found.Took == 0:
		return nil, "the request has not ended", nil
	case found.Resource == "websocket":
		return nil, "a WebSocket has no body", nil
	case found.Status >= 300 && found.Status < 400:
		return nil, "the response is a redirect, or reports that nothing has changed (304)", nil
	}
	body, err = query.Body(ctx, tab, found.Detail.ID)
	if gone, ok := errors.AsType[*apierr.Error](err); ok && gone.Kind == apierr.NotFound {
		return nil, gone.Message, nil
	}
	return body, "", err
}

// ExportHar returns the requests of the log as an archive.
func (s *Service) ExportHar(ctx context.Context, r *domtapv1.ExportHarRequest) (*domtapv1.ExportHarResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	all, dropped := tab.Log().Requests()
	resp := &domtapv1.ExportHarResponse{Requests: int32(len(all)), Dropped: dropped}
	archive := har.Archive{Creator: har.Software{Name: "domtap", Version: s.Version}, Pages: pagesOf(all), Comment: commentOf(dropped)}
	for _, one := range all {
		archive.Entries = append(archive.Entries, harEntry(one, pageOf(archive.Pages, one)))
	}
	if r.GetBodies() {
		if err := s.addBodies(ctx, tab, all, archive.Entries, r, resp); err != nil {
			return nil, err
		}
	}
	if resp.Har, err = har.Marshal(archive); err != nil {
		return nil, err
	}
	return resp, nil
}

// addBodies adds the available bodies to the entries. It starts with the newest, because the browser drops the oldest first.
func (s *Service) addBodies(ctx context.Context, tab *actor.Tab, all []pagelog.Requested, entries []har.Entry, r *domtapv1.ExportHarRequest, resp *domtapv1.ExportHarResponse) error {
	most, left := bodyLimit(r.MaxBodyBytes), maxBodies
	for i := len(all) - 1; i >= 0; i-- {
		body, missing, err := []byte(nil), "the log has dropped the details of the request", error(nil)
		if all[i].Detail != nil {
			body, missing, err = s.body(ctx, tab, all[i])
		}
		if err != nil {
			return err
		}
		switch answer := &entries[i].Response; {
		case missing != "":
			answer.NoBody = missing
		case len(body) > most:
			answer.NoBody, answer.Size = fmt.Sprintf("the body has more than %d bytes", most), int64(len(body))
		case len(body) > left:
			answer.NoBody, answer.Size = "the archive has reached its limit of 16 MiB of bodies", int64(len(body))
		default:
			answer.Body = append([]byte{}, body...)
			left -= len(body)
			resp.Bodies++
			continue
		}
		resp.BodiesMissing++
	}
	return nil
}

// pagesOf returns the main documents that were loaded.
func pagesOf(all []pagelog.Requested) (pages []har.Page) {
	for _, one := range all {
		if one.Detail != nil && one.Detail.Document {
			pages = append(pages, har.Page{ID: fmt.Sprintf("page_%d", len(pages)+1), Title: har.URL(one.Detail.URL), Started: one.At})
		}
	}
	return pages
}

// pageOf returns the page that a request belongs to, which is the last one that started before the request.
func pageOf(pages []har.Page, one pagelog.Requested) (id string) {
	for _, p := range pages {
		if p.Started.After(one.At) {
			break
		}
		id = p.ID
	}
	return id
}

func commentOf(dropped uint64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%d older requests are missing: the log of a tab has the newest 1,000", dropped)
}
