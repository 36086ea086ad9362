package server

import (
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

func TestSessionsOverTheWire(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		ctx := t.Context()
		settings := &domtapv1.SessionSettings{
			DialogPolicy: domtapv1.DialogPolicy_DIALOG_POLICY_DISMISS, Permissions: []string{"midi"}, DenyDownloads: true,
			HttpCredentials: &domtapv1.HttpCredentials{Username: "ada", Password: "lovelace"},
			Emulation: &domtapv1.Emulation{
				Device: "Pixel 8", Viewport: &domtapv1.Viewport{Width: 400, Height: 300}, DeviceScaleFactor: proto.Float64(2), Mobile: proto.Bool(false),
				Touch: proto.Bool(true), Locale: "de-DE", TimezoneId: "Europe/Berlin", Geolocation: &domtapv1.Geolocation{Latitude: 1, Longitude: 2, Accuracy: 3},
				Offline: true, ColorScheme: domtapv1.ColorScheme_COLOR_SCHEME_DARK, ReducedMotion: true, UserAgent: "x",
				ExtraHeaders: []*domtapv1.Header{{Name: "X-A", Value: "b"}},
			},
		}
		state := &domtapv1.StorageState{
			Cookies: []*domtapv1.Cookie{{Name: "id", Value: "42", Domain: "shop.example", Path: "/", Expires: 2e9, HttpOnly: true, Secure: true, SameSite: "Lax"}},
			Origins: []*domtapv1.OriginStorage{{Origin: "https://shop.example", LocalStorage: []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}}},
		}
		made, err := b.sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "work", Settings: settings, StorageState: state})
		if err != nil {
			t.Fatal(err)
		}
		want := proto.Clone(settings).(*domtapv1.SessionSettings)
		want.HttpCredentials.Password = ""
		if got := made.GetSession(); got.GetId() != "work" || !proto.Equal(got.GetSettings(), want) {
			t.Errorf("made %v, want the settings %v", got, want)
		}
		back, err := b.sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "work"})
		if err != nil || !proto.Equal(back.GetState(), state) {
			t.Errorf("the state came back as %v, %v", back.GetState(), err)
		}
		if _, err := b.sessions.SetStorageState(ctx, &domtapv1.SetStorageStateRequest{SessionId: "work", Replace: true}); err != nil {
			t.Error(err)
		}
		opened, err := b.tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: "work"})
		if err != nil || opened.GetTab().GetSessionId() != "work" {
			t.Errorf("opened %v, %v", opened, err)
		}
		updated, err := b.sessions.UpdateSession(ctx, &domtapv1.UpdateSessionRequest{SessionId: "work"})
		if err != nil || updated.GetSession().GetTabs() != 1 || updated.GetSession().GetSettings().GetEmulation().GetOffline() {
			t.Errorf("updated %v, %v", updated, err)
		}
		list, err := b.sessions.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
		if err != nil || len(list.GetSessions()) != 2 || list.GetSessions()[0].GetId() != "default" {
			t.Errorf("listed %v, %v", list, err)
		}
		if _, err := b.sessions.ListDownloads(ctx, &domtapv1.ListDownloadsRequest{SessionId: "work"}); err != nil {
			t.Error(err)
		}
		if _, err := b.sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: "work"}); err != nil {
			t.Error(err)
		}
		for what, err := range map[string]error{
			"list":  second(b.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{SessionId: "work"})),
			"open":  second(b.tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: "work"})),
			"state": second(b.sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "work"})),
			"close": second(b.sessions.CloseSession(ctx, &domtapv1.CloseSessionRequest{SessionId: "work"})),
		} {
			if status.Code(err) != codes.NotFound {
				t.Errorf("%s of a session that is closed: %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestASessionThatExistsIsNotMadeAgain(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, err := b.sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: "default"})
		if status.Code(err) != codes.AlreadyExists || rpcstatus.Reason(err) != "EXISTS" {
			t.Errorf("got %v", err)
		}
	})
}

func TestBadSessionRequestsNameTheirFields(t *testing.T) {
	emulated := func(e *domtapv1.Emulation) proto.Message {
		return &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{Emulation: e}}
	}
	stored := func(s *domtapv1.StorageState) proto.Message { return &domtapv1.SetStorageStateRequest{State: s} }
	many := &domtapv1.StorageState{Cookies: make([]*domtapv1.Cookie, 5001)}
	for i := range many.Cookies {
		many.Cookies[i] = &domtapv1.Cookie{Name: "a", Domain: "b"}
	}
	big := &domtapv1.StorageEntry{Name: "a", Value: strings.Repeat("x", 10<<20)}
	for field, r := range map[string]proto.Message{
		"session_id":                                &domtapv1.CreateSessionRequest{SessionId: "a b"},
		"settings.emulation.device":                 emulated(&domtapv1.Emulation{Device: "Nokia"}),
		"settings.emulation.viewport.width":         emulated(&domtapv1.Emulation{Viewport: &domtapv1.Viewport{Height: 1}}),
		"settings.emulation.device_scale_factor":    emulated(&domtapv1.Emulation{DeviceScaleFactor: proto.Float64(9)}),
		"settings.emulation.locale":                 emulated(&domtapv1.Emulation{Locale: "German"}),
		"settings.emulation.timezone_id":            emulated(&domtapv1.Emulation{TimezoneId: "Mars/Olympus"}),
		"settings.emulation.geolocation.latitude":   emulated(&domtapv1.Emulation{Geolocation: &domtapv1.Geolocation{Latitude: 91}}),
		"settings.emulation.color_scheme":           emulated(&domtapv1.Emulation{ColorScheme: 7}),
		"settings.emulation.user_agent":             emulated(&domtapv1.Emulation{UserAgent: "a\r\nb"}),
		"settings.emulation.extra_headers[0].name":  emulated(&domtapv1.Emulation{ExtraHeaders: []*domtapv1.Header{{Name: "a b"}}}),
		"settings.emulation.extra_headers[0].value": emulated(&domtapv1.Emulation{ExtraHeaders: []*domtapv1.Header{{Name: "a", Value: "\n"}}}),
		"settings.dialog_policy":                    &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{DialogPolicy: 9}},
		"settings.permissions[0]":                   &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{Permissions: []string{"everything"}}},
		"settings.http_credentials.origin": &domtapv1.UpdateSessionRequest{Settings: &domtapv1.SessionSettings{
			HttpCredentials: &domtapv1.HttpCredentials{Origin: "example.com/x"}}},
		"state.cookies":              stored(many),
		"state.cookies[0].domain":    stored(&domtapv1.StorageState{Cookies: []*domtapv1.Cookie{{Name: "a"}}}),
		"state.cookies[0].same_site": stored(&domtapv1.StorageState{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", SameSite: "x"}}}),
		"state.origins[1].origin":    stored(&domtapv1.StorageState{Origins: []*domtapv1.OriginStorage{{Origin: "https://a.b"}, {Origin: "https://a.b"}}}),
		"state.origins":              stored(&domtapv1.StorageState{Origins: []*domtapv1.OriginStorage{{Origin: "https://a.b", LocalStorage: []*domtapv1.StorageEntry{big}}}}),
		"state":                      &domtapv1.SetStorageStateRequest{},
	} {
		err := checkRequest(r)
		found := false
		for _, detail := range status.Convert(err).Details() {
			if bad, ok := detail.(*errdetails.BadRequest); ok {
				for _, v := range bad.GetFieldViolations() {
					found = found || v.GetField() == field
				}
			}
		}
		if status.Code(err) != codes.InvalidArgument || !found {
			t.Errorf("%s: %v", field, err)
		}
	}
}
