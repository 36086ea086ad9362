// What a page or a worker sees of the device that it is on.
async function facts() {
  const media = (query) => (self.matchMedia ? matchMedia(query).matches : null);
  const zone = Intl.DateTimeFormat().resolvedOptions();
  const hints = navigator.userAgentData
    ? await navigator.userAgentData.getHighEntropyValues(['platformVersion', 'model', 'fullVersionList', 'architecture'])
    : null;
  return {
    userAgent: navigator.userAgent, platform: navigator.platform, languages: navigator.languages, locale: zone.locale, timezone: zone.timeZone,
    offset: new Date(Date.UTC(2026, 0, 1)).getTimezoneOffset(), online: navigator.onLine, touch: navigator.maxTouchPoints ?? null,
    scale: self.devicePixelRatio ?? null, width: self.innerWidth ?? null, height: self.innerHeight ?? null, screen: self.screen ? screen.width : null,
    coarse: media('(pointer: coarse)'), dark: media('(prefers-color-scheme: dark)'), reduced: media('(prefers-reduced-motion: reduce)'),
    brands: hints ? hints.brands.map((b) => b.brand).sort() : null, mobile: hints ? hints.mobile : null, hintPlatform: hints ? hints.platform : null,
    model: hints ? hints.model : null,
  };
}

async function report(who) {
  await fetch('/report/' + who, { method: 'POST', body: JSON.stringify(await facts()) });
}
