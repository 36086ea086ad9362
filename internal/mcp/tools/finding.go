package tools

import (
	"context"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
)

// tokensPerMatch is the token budget for each requested match.
const tokensPerMatch = 50

// findArgs holds the arguments of browser_find.
type findArgs struct {
	Tab        string      `json:"tab"`
	Query      string      `json:"query"`
	Within     args.Text   `json:"within"`
	MaxResults args.Number `json:"max_results"`
}

func findElements(ctx context.Context, c *Call) error {
	a, err := read[findArgs](c)
	if err != nil {
		return err
	}
	if a.Query == "" {
		return inputf("query is missing: the words to find, such as \"sign in\"")
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	request := &domtapv1.FindRequest{
		TabId: id, Query: a.Query, MaxResults: c.Int32("max_results", a.MaxResults, args.Range{Low: 1, High: 50}), ClientId: c.Session.ClientID,
		Within: string(a.Within),
	}
	if request.MaxResults != nil {
		request.MaxTokens = proto.Int32(max(500, tokensPerMatch*request.GetMaxResults()))
	}
	answer, err := c.Daemon.Dom.Find(ctx, request)
	if err != nil {
		return err
	}
	c.addMetadata(answer.GetMetadata())
	c.addPageText(answer.GetText())
	return nil
}
