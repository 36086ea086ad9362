// Package check validates requests. It reads nothing but the request: whether a tab, a ref or a
// revision exists is for the actors to say.
//
// Request reports every violated field at once, so that a client can fix them all in one go. A
// request that passes keeps the ranges that the protos state, and handlers rely on that.
//
// The function that checks a kind of request is in the file of its service; the map checkers is the
// only list of them.
package check

import (
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Violation is one field that is out of range.
type Violation struct {
	// Field is the path of the field, such as "steps[2].click.target.ref".
	Field string
	// Description says what the field must be.
	Description string
}

// Invalid is the error for a request with fields out of range.
type Invalid struct {
	// Violations holds every violated field, in the order of the request's fields.
	Violations []Violation
}

// Error lists the violations.
func (e *Invalid) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.Field + ": " + v.Description
	}
	return strings.Join(parts, "; ")
}

// Unsupported is the error for a request that is well formed and asks for something that is not implemented.
type Unsupported struct {
	// Field is the path of the field that asks for it, or the name of the method.
	Field string
	// Instead says what works.
	Instead string
}

// Error names the field and what works instead.
func (e *Unsupported) Error() string {
	return fmt.Sprintf("%s is not implemented yet: %s", e.Field, e.Instead)
}

// Request returns nil for a valid request and for messages that have no checker. Otherwise it returns
// an *Invalid, an *apierr.Error of kind Refused for a URL that the policy forbids, or an *Unsupported:
// the first of these that applies.
func Request(m proto.Message) error {
	c, ok := checkers[reflect.TypeOf(m)]
	if !ok {
		return nil
	}
	v := new(violations)
	c.check(v, m)
	return v.err()
}

// checkers has the checker of each kind of request.
var checkers = table(
	of(checkOpenTab), of(checkAt(checkTab[*domtapv1.GetTabRequest])), of(checkAt(checkSession[*domtapv1.ListTabsRequest])),
	of(checkSession[*domtapv1.WatchTabsRequest]), of(checkTab[*domtapv1.CloseTabRequest]), of(checkTab[*domtapv1.SetRestoreRequest]),
	of(checkNavigate), of(checkTabLoad[*domtapv1.GoBackRequest]), of(checkTabLoad[*domtapv1.GoForwardRequest]),
	of(checkTabLoad[*domtapv1.ReloadRequest]), of(checkAnswerDialog),
	of(checkAt(checkGetDom)), of(checkAt(checkGetCompact)), of(checkAt(checkFind)), of(checkAt(checkWatchDom)), of(checkWaitFor),
	of(checkInteract), of(checkFillForm),
	of(checkReadPage), of(checkAt(checkScreenshot)), of(checkPdf), of(checkExtract), of(checkBatch), of(checkEvaluate), of(checkAt(checkReadLog)),
	of(checkGetRequest), of(checkExportHar), of(checkAudit), of(checkRecordVideo),
	of(checkCreateSession), of(checkUpdateSession), of(checkCloseSession),
	of(checkSession[*domtapv1.GetStorageStateRequest]), of(checkSetStorageState), of(checkSession[*domtapv1.ListDownloadsRequest]),
	of(checkPruneTranscript), of(checkCountTokens), of(checkTab[*domtapv1.GetHistoryRequest]), of(checkGetStats), of(checkSearch),
	of(checkListCookies), of(checkSetCookies), of(checkDeleteCookies), of(checkGetLocalStorage), of(checkEditLocalStorage), of(checkGetSessionStorage), of(checkEditSessionStorage),
	of(checkAddRoute), of(checkSession[*domtapv1.ListRoutesRequest]), of(checkRemoveRoutes),
	of(checkDrainNode), of(checkMoveSession), of(checkStartLivePage),
	of(checkGetTimeline), of(checkWatchTimeline), of(checkPauseClient), of(checkResumeClient), of(checkTakeOver), of(checkHandBack), of(checkListPauses),
	of(checkRecord), of(checkStopRecording), of(checkListRecordings), of(checkSeek),
)

// checker adds what is wrong with a request to v.
type checker struct {
	request reflect.Type
	check   func(v *violations, m proto.Message)
}

// of makes the checker of one kind of request.
func of[M proto.Message](check func(*violations, M)) checker {
	return checker{reflect.TypeFor[M](), func(v *violations, m proto.Message) { check(v, m.(M)) }}
}

// table maps the types of requests to their checkers.
func table(all ...checker) map[reflect.Type]checker {
	byRequest := make(map[reflect.Type]checker, len(all))
	for _, c := range all {
		byRequest[c.request] = c
	}
	return byRequest
}
