package sessions

import (
	"slices"
	"strings"
)

// Device is a kind of device in portrait orientation.
type Device struct {
	Name string
	// Width and Height are the screen size in CSS pixels.
	Width, Height int
	// Scale is the number of device pixels per CSS pixel.
	Scale         float64
	Mobile, Touch bool
	// UserAgent is the user agent of the device's usual browser. {chrome} is replaced by the version of the running browser.
	UserAgent string
}

const (
	safariPhone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
	safariTablet = "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
	safariMac    = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15"
	chromePhone  = ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{chrome} Mobile Safari/537.36"
	chromeTablet = ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{chrome} Safari/537.36"
)

// devices holds the sizes and scales from the device mode of Chromium's DevTools (front_end/models/emulation/EmulatedDevices.ts). For newer
// devices, the size is the screen's pixels divided by the scale, checked against the screens in Playwright's list where it has the device
// (packages/playwright-core/src/server/deviceDescriptorsSource.json, 1.65). These are the iPhones since 11 except the 12 Pro (such as 2556
// by 1179 pixels at 3), the iPads of 10.2 and 11 inches (such as 2160 by 1620 at 2), the Pixels except the 7 (such as 2400 by 1080 at 420
// dpi, 2.625, and 2992 by 1344 at 3), and the Galaxy S24 (2340 by 1080 at 3), A55 (2340 by 1080 at 2.25), Z Flip 6 and 7, Z Fold 6 and 7
// (such as 2160 by 1856 at 2) and Tab S9 (2560 by 1600 at 2.25). Desktop sizes are common ones.
var devices = []Device{
	{"iPhone SE", 375, 667, 2, true, true, safariPhone},
	{"iPhone XR", 414, 896, 2, true, true, safariPhone},
	{"iPhone 11", 414, 896, 2, true, true, safariPhone},
	{"iPhone 11 Pro", 375, 812, 3, true, true, safariPhone},
	{"iPhone 11 Pro Max", 414, 896, 3, true, true, safariPhone},
	{"iPhone 12", 390, 844, 3, true, true, safariPhone},
	{"iPhone 12 mini", 375, 812, 3, true, true, safariPhone},
	{"iPhone 12 Pro", 390, 844, 3, true, true, safariPhone},
	{"iPhone 12 Pro Max", 428, 926, 3, true, true, safariPhone},
	{"iPhone 13", 390, 844, 3, true, true, safariPhone},
	{"iPhone 13 mini", 375, 812, 3, true, true, safariPhone},
	{"iPhone 13 Pro", 390, 844, 3, true, true, safariPhone},
	{"iPhone 13 Pro Max", 428, 926, 3, true, true, safariPhone},
	{"iPhone 14", 390, 844, 3, true, true, safariPhone},
	{"iPhone 14 Plus", 428, 926, 3, true, true, safariPhone},
	{"iPhone 14 Pro", 393, 852, 3, true, true, safariPhone},
	{"iPhone 14 Pro Max", 430, 932, 3, true, true, safariPhone},
	{"iPhone 15", 393, 852, 3, true, true, safariPhone},
	{"iPhone 15 Plus", 430, 932, 3, true, true, safariPhone},
	{"iPhone 15 Pro", 393, 852, 3, true, true, safariPhone},
	{"iPhone 15 Pro Max", 430, 932, 3, true, true, safariPhone},
	{"iPhone 16", 393, 852, 3, true, true, safariPhone},
	{"iPhone 16 Plus", 430, 932, 3, true, true, safariPhone},
	{"iPhone 16 Pro", 402, 874, 3, true, true, safariPhone},
	{"iPhone 16 Pro Max", 440, 956, 3, true, true, safariPhone},
	{"iPhone 16e", 390, 844, 3, true, true, safariPhone},
	{"iPhone 17", 402, 874, 3, true, true, safariPhone},
	{"iPhone 17 Pro", 402, 874, 3, true, true, safariPhone},
	{"iPhone 17 Pro Max", 440, 956, 3, true, true, safariPhone},
	{"iPhone 17e", 390, 844, 3, true, true, safariPhone},
	{"iPhone Air", 420, 912, 3, true, true, safariPhone},
	{"Moto G Power", 412, 823, 1.75, true, true, "Mozilla/5.0 (Linux; Android 11; moto g power (2022)" + chromePhone},
	{"Pixel 4a (5G)", 412, 892, 2.625, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 4a (5G)" + chromePhone},
	{"Pixel 5", 393, 851, 2.75, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 5" + chromePhone},
	{"Pixel 6", 412, 915, 2.625, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 6" + chromePhone},
	{"Pixel 6 Pro", 412, 892, 3.5, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 6 Pro" + chromePhone},
	{"Pixel 6a", 412, 915, 2.625, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 6a" + chromePhone},
	{"Pixel 7", 412, 915, 2.625, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 7" + chromePhone},
	{"Pixel 7 Pro", 412, 892, 3.5, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 7 Pro" + chromePhone},
	{"Pixel 7a", 412, 915, 2.625, true, true, "Mozilla/5.0 (Linux; Android 13; Pixel 7a" + chromePhone},
	{"Pixel 8", 412, 915, 2.625, true, true, "Mozilla/5.0 (Linux; Android 14; Pixel 8" + chromePhone},
	{"Pixel 8 Pro", 448, 997, 3, true, true, "Mozilla/5.0 (Linux; Android 14; Pixel 8 Pro" + chromePhone},
	{"Pixel 8a", 412, 915, 2.625, true, true, "Mozilla/5.0 (Linux; Android 14; Pixel 8a" + chromePhone},
	{"Pixel 9", 412, 923, 2.625, true, true, "Mozilla/5.0 (Linux; Android 15; Pixel 9" + chromePhone},
	{"Pixel 9 Pro", 427, 952, 3, true, true, "Mozilla/5.0 (Linux; Android 15; Pixel 9 Pro" + chromePhone},
	{"Pixel 9 Pro XL", 448, 997, 3, true, true, "Mozilla/5.0 (Linux; Android 15; Pixel 9 Pro XL" + chromePhone},
	{"Pixel 10", 412, 923, 2.625, true, true, "Mozilla/5.0 (Linux; Android 16; Pixel 10" + chromePhone},
	{"Pixel 10 Pro", 427, 952, 3, true, true, "Mozilla/5.0 (Linux; Android 16; Pixel 10 Pro" + chromePhone},
	{"Pixel 10 Pro XL", 448, 997, 3, true, true, "Mozilla/5.0 (Linux; Android 16; Pixel 10 Pro XL" + chromePhone},
	{"Galaxy S8+", 360, 740, 4, true, true, "Mozilla/5.0 (Linux; Android 9; SM-G955U" + chromePhone},
	{"Galaxy S20 Ultra", 412, 915, 3.5, true, true, "Mozilla/5.0 (Linux; Android 13; SM-G988B" + chromePhone},
	{"Galaxy S24", 360, 780, 3, true, true, "Mozilla/5.0 (Linux; Android 14; SM-S921B" + chromePhone},
	{"Galaxy A55", 480, 1040, 2.25, true, true, "Mozilla/5.0 (Linux; Android 14; SM-A556B" + chromePhone},
	{"Galaxy Z Flip 6", 360, 880, 3, true, true, "Mozilla/5.0 (Linux; Android 14; SM-F741U" + chromePhone},
	{"Galaxy Z Flip 7", 360, 840, 3, true, true, "Mozilla/5.0 (Linux; Android 16; SM-F761U" + chromePhone},
	{"Galaxy Z Fold 5", 344, 882, 2.625, true, true, "Mozilla/5.0 (Linux; Android 13; SM-F946U" + chromePhone},
	{"Galaxy Z Fold 6", 928, 1080, 2, true, true, "Mozilla/5.0 (Linux; Android 14; SM-F956U" + chromePhone},
	{"Galaxy Z Fold 6 Cover", 484, 1188, 2, true, true, "Mozilla/5.0 (Linux; Android 14; SM-F956U" + chromePhone},
	{"Galaxy Z Fold 7", 984, 1092, 2, true, true, "Mozilla/5.0 (Linux; Android 16; SM-F966U" + chromePhone},
	{"Galaxy Z Fold 7 Cover", 360, 840, 3, true, true, "Mozilla/5.0 (Linux; Android 16; SM-F966U" + chromePhone},
	{"iPad", 810, 1080, 2, true, true, safariTablet},
	{"iPad (gen 11)", 820, 1180, 2, true, true, safariTablet},
	{"iPad Mini", 768, 1024, 2, true, true, safariTablet},
	{"iPad Air", 820, 1180, 2, true, true, safariTablet},
	{"iPad Pro", 1024, 1366, 2, true, true, safariTablet},
	{"iPad Pro 11", 834, 1194, 2, true, true, safariTablet},
	{"Galaxy Tab S9", 711, 1138, 2.25, true, true, "Mozilla/5.0 (Linux; Android 14; SM-X710" + chromeTablet},
	{"Surface Pro 7", 912, 1368, 2, true, true, "Mozilla/5.0 (Windows NT 10.0; Win64; x64" + chromeTablet},
	{"Nest Hub", 1024, 600, 2, true, true, "Mozilla/5.0 (Linux; Android" + chromeTablet},
	{"Nest Hub Max", 1280, 800, 2, true, true, "Mozilla/5.0 (Linux; Android" + chromeTablet},
	{"Desktop", 1280, 800, 1, false, false, ""},
	{"Desktop Full HD", 1920, 1080, 1, false, false, ""},
	{"MacBook Air", 1440, 900, 2, false, false, safariMac},
}

// Devices returns the devices that Emulation.Device may name.
func Devices() []Device { return slices.Clone(devices) }

// FindDevice finds a device by its name, ignoring case.
func FindDevice(name string) (Device, bool) {
	i := slices.IndexFunc(devices, func(d Device) bool { return strings.EqualFold(d.Name, name) })
	if i < 0 {
		return Device{}, false
	}
	return devices[i], true
}

// ResolvedEmulation is an Emulation with the device's values filled in.
type ResolvedEmulation struct {
	// Width and Height are 0 if neither the client nor the device sets them.
	Width, Height int
	// Scale is 0 if neither the client nor the device sets it.
	Scale         float64
	Mobile, Touch bool
	// UserAgent is empty for the browser's own user agent. {chrome} is replaced by the browser's version.
	UserAgent string
	Emulation
}

// Resolve fills in the device's values for fields that the client did not set.
func (e Emulation) Resolve() ResolvedEmulation {
	d, _ := FindDevice(e.Device)
	l := ResolvedEmulation{Width: d.Width, Height: d.Height, Scale: d.Scale, Mobile: d.Mobile, Touch: d.Touch, UserAgent: d.UserAgent, Emulation: e}
	if e.Width > 0 && e.Height > 0 {
		l.Width, l.Height = e.Width, e.Height
	}
	if e.Scale > 0 {
		l.Scale = e.Scale
	}
	if e.Mobile != nil {
		l.Mobile = *e.Mobile
	}
	if e.Touch != nil {
		l.Touch = *e.Touch
	}
	if e.UserAgent != "" {
		l.UserAgent = e.UserAgent
	}
	return l
}
