package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// callLimit is longer than any call may take, in the fake time of a bubble.
const callLimit = time.Hour

// anything makes random calls: any method, with a message whose fields have correct, nearly correct or wrong values. Calls run sequentially
// and concurrently.
type anything struct {
	*bench
	// data provides the random choices until it is used up, then random does.
	data    []byte
	random  *rand.Rand
	methods []protoreflect.MethodDescriptor
	epoch   string
	refs    int
	image   []byte

	mu     sync.Mutex
	codes  map[codes.Code]int
	faults []string
}

// pick returns a number below n.
func (a *anything) pick(n int) int {
	if len(a.data) > 0 {
		b := a.data[0]
		a.data = a.data[1:]
		return int(b) % n
	}
	return a.random.IntN(n)
}

func choose[T any](a *anything, of ...T) T { return of[a.pick(len(of))] }

// words lists strings that have a meaning in some field.
var words = []string{
	"", "t1", "t2", "t99", "default", "s1", "one", "B1", "button", "Enter", "Control+a", "h1", "a[href", "*", "id", "c1", "F",
	shopURL, shopURL + "other", "about:blank", "file:///etc/passwd", "javascript:1", "data:text/html,x", "http://[", "10.0.0.1",
	"/etc/passwd", "../../x", "[]", "{", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
	`[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"1","content":"# Elements: 3"}]`, "1+1", "while(1);",
	"\x00", "a\nb", "\u202e🙂", "0001-01-01", "Mozilla/5.0 {chrome}", "en-US", "Europe/Paris", "No/Where", "iPhone 15", "png", "email",
}

func (a *anything) text(field protoreflect.FieldDescriptor) string {
	name := string(field.Name())
	switch {
	case name == "tab_id" && a.pick(8) > 0:
		return a.tab()
	case name == "session_id" && a.pick(4) > 0:
		return choose(a, "", "default", "s1", "one")
	case name == "epoch" && a.pick(4) > 0:
		return a.epoch
	case name == "url" && a.pick(2) > 0:
		return choose(a, shopURL, shopURL+"other")
	}
	switch a.pick(12) {
	case 0:
		return strings.Repeat(choose(a, words...), 1<<a.pick(14))
	case 1:
		runes := make([]rune, a.pick(30))
		for i := range runes {
			runes[i] = choose(a, 'a', '0', ' ', '"', '<', '\\', '\u202e', '\u0301', '💥', rune(a.pick(0xd800)))
		}
		return string(runes)
	}
	return choose(a, words...)
}

// tab returns the ID of an open tab, if there is one.
func (a *anything) tab() string {
	tabs := a.pool.Tabs()
	if len(tabs) == 0 {
		return "t1"
	}
	return tabs[a.pick(len(tabs))].ID()
}

func (a *anything) number(field protoreflect.FieldDescriptor) int64 {
	if strings.HasSuffix(string(field.Name()), "ref") && a.pick(4) > 0 {
		return int64(a.pick(a.refs))
	}
	return choose[int64](a, 0, 1, 2, 3, 5, 50, 200, 300, 1000, 1001, 50000, -1, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64)
}

// value returns a value for a field that is neither a list nor a map.
func (a *anything) value(field protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(a.pick(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(a.pick(field.Enum().Values().Len()+2) - 1))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(a.number(field)))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(a.number(field)))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(a.number(field))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(a.number(field)))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(a.real()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(a.real())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(a.text(field))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(a.text(field)))
	case protoreflect.MessageKind, protoreflect.GroupKind:
	}
	m := dynamicpb.NewMessage(field.Message())
	a.fill(m, depth+1)
	return protoreflect.ValueOfMessage(m)
}

func (a *anything) real() float64 {
	return choose(a, 0, 0.5, 1, 2, 100, 1e6, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64)
}

// fill sets some of the fields of a message.
func (a *anything) fill(m protoreflect.Message, depth int) {
	if depth > 5 {
		return
	}
	if m.Descriptor().FullName() == "google.protobuf.Duration" {
		a.duration(m)
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Name() != "tab_id" && a.pick(3) > 0 {
			continue
		}
		switch {
		case field.IsMap():
			for range a.pick(3) {
				key := a.value(field.MapKey(), depth).MapKey()
				m.Mutable(field).Map().Set(key, a.value(field.MapValue(), depth))
			}
		case field.IsList():
			for range a.pick(4) {
				m.Mutable(field).List().Append(a.value(field, depth))
			}
		default:
			m.Set(field, a.value(field, depth))
		}
	}
}

// duration sets a duration, which is mostly short.
func (a *anything) duration(m protoreflect.Message) {
	seconds := choose[int64](a, 0, 0, 1, 2, 30, 61, -1, math.MaxInt64, 1<<40)
	nanos := choose[int32](a, 0, 1, 5e6, 5e8, -1, math.MaxInt32)
	m.Set(m.Descriptor().Fields().ByName("seconds"), protoreflect.ValueOfInt64(seconds))
	m.Set(m.Descriptor().Fields().ByName("nanos"), protoreflect.ValueOfInt32(nanos))
}

// ask makes one call. The result must be an answer or a documented error.
func (a *anything) ask(ctx context.Context, method protoreflect.MethodDescriptor, request proto.Message) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	name := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	answer := dynamicpb.NewMessage(method.Output())
	var err error
	if method.IsStreamingServer() {
		err = a.listen(ctx, name, request, answer)
	} else {
		err = a.conn.Invoke(ctx, name, request, answer)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.codes[status.Code(err)]++
	fault := ""
	switch s := status.Convert(err); {
	case ctx.Err() != nil && !method.IsStreamingServer():
		fault = "did not end"
	case s.Code() == codes.InvalidArgument && len(violatedFields(err)) == 0:
		fault = "names no field: " + s.Message()
	case err != nil && s.Message() == "":
		fault = "says nothing"
	case slices.Contains([]codes.Code{codes.Internal, codes.Unknown, codes.DataLoss, codes.Unauthenticated}, s.Code()):
		fault = err.Error()
	}
	if fault != "" {
		a.faults = append(a.faults, fmt.Sprintf("%s(%.500v) %s", name, request, fault))
	}
}

// listen reads the first messages of a stream, for one minute at most.
func (a *anything) listen(ctx context.Context, name string, request, answer proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	stream, err := a.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, name)
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(request), stream.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for range 5 {
		if err = stream.RecvMsg(answer); err != nil {
			break
		}
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// paint gives every page a picture, as a browser does.
func (a *anything) paint() {
	for n := 0; a.browser.Page(n) != nil; n++ {
		a.browser.Page(n).Picture(a.image)
	}
}

// playAnything makes a number of random calls to a new server in fake time. At the end no goroutine may be left.
func playAnything(t *testing.T, data []byte, seed uint64, calls int) (tally map[codes.Code]int) {
	random := rand.New(rand.NewPCG(seed, 1))
	inBubble(t, Config{AllowEval: seed%2 == 0}, func(t *testing.T, b *bench) {
		a := &anything{bench: b, data: data, random: random, codes: map[codes.Code]int{}, refs: 14, image: picture(t, 4, 3)}
		everyMethod(t, func(_ string, m protoreflect.MethodDescriptor, _ proto.Message) { a.methods = append(a.methods, m) })
		b.browser.Serve(shopURL, func() actortest.Screen {
			frame := &actortest.Frame{ID: "F", Body: buttons("Inner", 3)}
			return actortest.Screen{Title: "Shop", Body: append(buttons("B", 9), actortest.Iframe("Frame", frame))}
		})
		b.browser.Serve(shopURL+"other", func() actortest.Screen { return actortest.Screen{Title: "Other", Body: buttons("O", 2)} })
		var aside sync.WaitGroup
		for range calls {
			if len(b.pool.Tabs()) == 0 {
				tab, _ := b.open(shopURL)
				a.epoch = tab.GetEpoch()
			}
			a.paint()
			method := choose(a, a.methods...)
			request := dynamicpb.NewMessage(method.Input())
			a.fill(request, 0)
			if a.pick(4) == 0 {
				aside.Go(func() { a.ask(t.Context(), method, request) })
			} else {
				a.ask(t.Context(), method, request)
			}
		}
		aside.Wait()
		if _, err := b.tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{}); err != nil {
			t.Errorf("after all that the server says %v", err)
		}
		for _, fault := range a.faults {
			t.Errorf("seed %d: %s", seed, fault)
		}
		tally = a.codes
	})
	return tally
}

// TestAnythingMayBeAsked calls every method with random requests, from seeds. DOMTAP_CALLS sets the number of calls. A failure prints the
// seed, and DOMTAP_SEED repeats it.
func TestAnythingMayBeAsked(t *testing.T) {
	const each = 50
	total, first := 1500, uint64(1)
	if os.Getenv("DOMTAP_LONG") != "" { // make test-long
		total = 6000
	}
	if n, err := strconv.Atoi(os.Getenv("DOMTAP_CALLS")); err == nil {
		total, first = n, rand.Uint64()
	}
	if seed, err := strconv.ParseUint(os.Getenv("DOMTAP_SEED"), 10, 64); err == nil {
		total, first = each, seed
	}
	tally := map[codes.Code]int{}
	for i := range max(1, total/each) {
		for code, n := range playAnything(t, nil, first+uint64(i), each) {
			tally[code] += n
		}
		if t.Failed() {
			break
		}
	}
	t.Log(tally)
	if tally[codes.OK] == 0 || tally[codes.InvalidArgument] == 0 {
		t.Errorf("the calls were all alike: %v", tally)
	}
}

// FuzzAnythingMayBeAsked does the same with choices of the fuzzer.
func FuzzAnythingMayBeAsked(f *testing.F) {
	f.Add([]byte{}, uint64(1))
	f.Add([]byte("anything"), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) { playAnything(t, data, seed, 20) })
}
