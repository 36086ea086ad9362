// Package rpcstatus converts errors to gRPC statuses. A status has a code from one table, a message that suggests what to do next, and
// google.rpc details for programs.
//
// Every error of the server passes through From or New. Codes, reasons and metadata are stable for clients; messages are not.
package rpcstatus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/server/tabview"
)

// Domain is the domain of every ErrorInfo.
const Domain = "domtap.dev"

// mapping holds the code and the reason for one kind of error.
type mapping struct {
	code   codes.Code
	reason string
}

// kinds maps the kinds of actors' errors. It is the only such table, apart from searches, which needs no actor.
var kinds = map[apierr.ErrorKind]mapping{
	apierr.NotFound:      {codes.NotFound, "NOT_FOUND"},
	apierr.Stale:         {codes.FailedPrecondition, "STALE_REF"},
	apierr.NotActionable: {codes.FailedPrecondition, "NOT_ACTIONABLE"},
	apierr.Navigation:    {codes.FailedPrecondition, "NAVIGATION_FAILED"},
	apierr.NoHistory:     {codes.FailedPrecondition, "NO_HISTORY"},
	apierr.Aborted:       {codes.Aborted, "NAVIGATED_AWAY"},
	apierr.Exhausted:     {codes.ResourceExhausted, "LIMIT_REACHED"},
	apierr.Refused:       {codes.PermissionDenied, "URL_POLICY"},
	apierr.Lost:          {codes.Unavailable, "PAGE_LOST"},
	apierr.Closed:        {codes.Aborted, "TAB_CLOSED"},
	apierr.DialogOpen:    {codes.FailedPrecondition, "DIALOG_OPEN"},
	apierr.IsDownload:    {codes.FailedPrecondition, "DOWNLOAD"},
	apierr.NoDialog:      {codes.FailedPrecondition, "NO_DIALOG"},
	apierr.Invalid:       {codes.InvalidArgument, "INVALID"},
	apierr.Forbidden:     {codes.PermissionDenied, "UPLOAD_POLICY"},
	apierr.Ambiguous:     {codes.FailedPrecondition, "AMBIGUOUS_TARGET"},
	apierr.NoMatch:       {codes.FailedPrecondition, "TARGET_NOT_FOUND"},
	apierr.Exists:        {codes.AlreadyExists, "EXISTS"},
	apierr.Restoring:     {codes.Unavailable, "TAB_RESTORING"},
	apierr.NotDelivered:  {codes.FailedPrecondition, "NOT_DELIVERED"},
	apierr.Unresponsive:  {codes.FailedPrecondition, "PAGE_UNRESPONSIVE"},
	apierr.Fenced:        {codes.Unavailable, "FENCED"},
	apierr.Recording:     {codes.Unavailable, "RECORDING_FAILED"},
	apierr.ReadOnly:      {codes.FailedPrecondition, "READ_ONLY_REPLAY"},
	apierr.NoReplay:      {codes.FailedPrecondition, "NO_REPLAY"},
	apierr.Unanswered:    {codes.DeadlineExceeded, "PAGE_UNRESPONSIVE"},
}

// searches maps the kinds of failed searches.
var searches = map[search.ErrorKind]mapping{
	search.Off:            {codes.FailedPrecondition, "SEARCH_OFF"},
	search.NoSuchKind:     {codes.FailedPrecondition, "SEARCH_KIND"},
	search.NoSuchProvider: {codes.FailedPrecondition, "SEARCH_PROVIDER"},
	search.KeyRefused:     {codes.FailedPrecondition, "SEARCH_KEY"},
	search.Quota:          {codes.ResourceExhausted, "SEARCH_QUOTA"},
	search.Timeout:        {codes.DeadlineExceeded, "SEARCH_TIMEOUT"},
	search.NotUnderstood:  {codes.Unavailable, "SEARCH_ANSWER"},
	search.Unavailable:    {codes.Unavailable, "SEARCH_UNAVAILABLE"},
	search.Rejected:       {codes.InvalidArgument, "SEARCH_QUERY"},
}

// From converts the error of a handler to an error with a status. An error with a status is returned unchanged, and nil is returned for
// nil.
func From(err error) error {
	if err == nil {
		return nil
	}
	var known *apierr.Error
	var exceeded *limit.Exceeded
	var invalid *rules.Invalid
	var unsupported *rules.Unsupported
	var searched *search.Error
	switch {
	case hasStatus(err):
		return err
	case errors.As(err, &exceeded):
		return exhausted(exceeded)
	case errors.As(err, &invalid):
		return badRequest(invalid)
	case errors.As(err, &unsupported):
		return New(codes.Unimplemented, unsupported.Error(), Info("UNIMPLEMENTED", map[string]string{"field": unsupported.Field}))
	case errors.Is(err, tabview.ErrCursorExpired):
		return New(codes.FailedPrecondition, err.Error(), Info("CURSOR_EXPIRED", nil))
	case errors.Is(err, tabview.ErrOtherView):
		return badRequest(&rules.Invalid{Violations: []rules.Violation{{Field: "cursor", Description: err.Error()}}})
	case errors.Is(err, context.DeadlineExceeded):
		return New(codes.DeadlineExceeded, err.Error()+": set a longer deadline; GetTab returns the tab's status")
	case errors.As(err, &searched):
		return fromSearch(searched)
	case errors.As(err, &known):
		return fromActor(known, err.Error())
	case errors.Is(err, context.Canceled):
		return New(codes.Canceled, err.Error()+": actions that the call started may still take effect")
	}
	return New(codes.Internal, err.Error()+": this is a bug in domtap: see the daemon's log, and please report it")
}

// fromActor converts the error of an actor.
func fromActor(known *apierr.Error, message string) error {
	m, ok := kinds[known.Kind]
	if !ok {
		m = mapping{codes.Internal, "UNKNOWN_KIND"}
	}
	details := []protoadapt.MessageV1{Info(m.reason, metadataOf(known))}
	if m.code == codes.InvalidArgument {
		details = append(details, violation(cmp.Or(known.Field, "request"), known.Error()))
	}
	if known.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(known.RetryAfter)})
	}
	if m.code == codes.ResourceExhausted {
		details = append(details, quota(known.Client, message))
	}
	return New(m.code, message, details...)
}

// fromSearch converts the error of a search.
func fromSearch(e *search.Error) error {
	m, ok := searches[e.Kind]
	if !ok {
		m = mapping{codes.Internal, "UNKNOWN_KIND"}
	}
	metadata := map[string]string{}
	if e.Provider != "" {
		metadata["provider"] = e.Provider
	}
	details := []protoadapt.MessageV1{Info(m.reason, metadata)}
	if m.code == codes.InvalidArgument {
		details = append(details, violation("query", e.Error()))
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	return New(m.code, e.Error(), details...)
}

// exhausted returns the error for a limit that was reached. It includes the time of the next attempt if that is known.
func exhausted(e *limit.Exceeded) error {
	details := []protoadapt.MessageV1{Info("LIMIT_REACHED", map[string]string{"limit": e.Limit, "max": e.Max}), quota(e.Client, e.Message)}
	if e.Retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.Retry)})
	}
	return New(codes.ResourceExhausted, e.Message, details...)
}

// quota returns the detail that names the owner of the limit: the client, or the daemon if client is empty.
func quota(client, description string) *errdetails.QuotaFailure {
	subject := "daemon"
	if client != "" {
		subject = "client:" + client
	}
	return &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: subject, Description: validUTF8(description)}}}
}

// Limit returns the name of the limit that an error reports, or "" if it reports none.
func Limit(err error) string {
	st := status.Convert(err)
	if st.Code() != codes.ResourceExhausted {
		return ""
	}
	for _, detail := range st.Details() {
		i, ok := detail.(*errdetails.ErrorInfo)
		switch {
		case ok && i.GetMetadata()["limit"] != "":
			return i.GetMetadata()["limit"]
		case ok && i.GetReason() == searches[search.Quota].reason:
			return "" // the provider's limit
		}
	}
	switch { // messages of gRPC itself
	case strings.Contains(st.Message(), "received message larger"):
		return limit.Request
	case strings.Contains(st.Message(), "send message larger"):
		return limit.Response
	}
	return "other"
}

// metadataOf returns the detail of an actor's error. For an ambiguous target, it adds the refs of the candidates.
func metadataOf(e *apierr.Error) map[string]string {
	if len(e.Candidates) == 0 {
		return e.Detail
	}
	all := maps.Clone(e.Detail)
	if all == nil {
		all = map[string]string{}
	}
	refs := make([]string, len(e.Candidates))
	for i, el := range e.Candidates {
		refs[i] = strconv.FormatUint(uint64(el.Ref), 10)
	}
	all["candidates"] = strings.Join(refs, " ")
	return all
}

func hasStatus(err error) bool {
	var s interface{ GRPCStatus() *status.Status }
	return errors.As(err, &s)
}

// Reason returns the reason of an error's ErrorInfo, or "" if there is none.
func Reason(err error) string {
	for _, detail := range status.Convert(From(err)).Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

// violation returns the detail for one invalid field.
func violation(field, description string) *errdetails.BadRequest {
	return &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: validUTF8(field), Description: validUTF8(description)}}}
}

func badRequest(invalid *rules.Invalid) error {
	detail := new(errdetails.BadRequest)
	for _, v := range invalid.Violations {
		detail.FieldViolations = append(detail.FieldViolations, violation(v.Field, v.Description).FieldViolations...)
	}
	return New(codes.InvalidArgument, invalid.Error(), detail)
}

// Info returns the detail that identifies the reason of an error to programs.
func Info(reason string, metadata map[string]string) *errdetails.ErrorInfo {
	all := make(map[string]string, len(metadata))
	for name, value := range metadata {
		all[name] = validUTF8(value)
	}
	return &errdetails.ErrorInfo{Reason: reason, Domain: Domain, Metadata: all}
}

// validUTF8 replaces invalid bytes, which a protobuf string cannot hold.
func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// New returns an error with a status. If a detail cannot be encoded, the error has no details. When the call ends, package trailers
// shortens errors that are too long for some clients.
func New(code codes.Code, message string, details ...protoadapt.MessageV1) error {
	s := status.New(code, validUTF8(message))
	if detailed, err := s.WithDetails(details...); err == nil {
		s = detailed
	}
	return s.Err()
}

// Recovered returns the error of a call whose handler panicked, and logs the stack. It does not log the panic's value, which could contain
// page content. It must be called by the deferred function that recovered.
func Recovered(ctx context.Context, logger *slog.Logger) error {
	logger.ErrorContext(ctx, "a handler panicked", slog.String("stack", string(debug.Stack())))
	return New(codes.Internal, "internal error: this is a bug in domtap: see the daemon's log, and please report it")
}

// UnknownNode returns the error for the name of a node that is not part of the cluster.
func UnknownNode(id string) error {
	return New(codes.NotFound, fmt.Sprintf("the cluster has no node %q: GetCluster lists the nodes", id),
		Info("NOT_FOUND", map[string]string{"resource": "node"}))
}

// StepReason returns the reason of a step's error, or "" if there is none.
func StepReason(err error) string {
	name := Reason(err)
	if name == "" && errors.Is(err, context.DeadlineExceeded) {
		return "DEADLINE_EXCEEDED"
	}
	return name
}
