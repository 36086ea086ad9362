package readcmd

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestUntilIsLikeTheFlagsOfWait(t *testing.T) {
	for _, test := range []struct {
		conditions []string
		want       *domtapv1.WaitCondition
	}{
		{[]string{"text=Done"}, &domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Text: "Done"}}},
		{[]string{"text=a=b"}, &domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Text: "a=b"}}},
		{[]string{"gone:role=progressbar", "url=*/done"}, &domtapv1.WaitCondition{Url: "*/done",
			Element: &domtapv1.ElementCondition{Role: "progressbar", State: domtapv1.ElementState_ELEMENT_STATE_GONE}}},
		{[]string{"visible:selector=a[href='#x']"}, &domtapv1.WaitCondition{
			Element: &domtapv1.ElementCondition{Selector: "a[href='#x']", State: domtapv1.ElementState_ELEMENT_STATE_VISIBLE}}},
		{[]string{"network-idle", "change"}, &domtapv1.WaitCondition{NetworkIdle: durationpb.New(500 * time.Millisecond), Change: true}},
	} {
		if got, err := parseUntil(test.conditions); err != nil || !proto.Equal(got, test.want) {
			t.Errorf("%q: %v, %v", test.conditions, got, err)
		}
	}
}
