// Follows a tab from a web page, with fetch and no library. The server must allow the page: domtap serve --web-origin.
async function* watch(token, request) {
  const body = new TextEncoder().encode(JSON.stringify(request))
  const frame = new Uint8Array(5 + body.length)
  new DataView(frame.buffer).setUint32(1, body.length)
  frame.set(body, 5)
  const answer = await fetch('http://127.0.0.1:7412/domtap.v1.DomService/WatchDom', {
    method: 'POST', body: frame,
    headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/connect+json' },
  })
  if (!answer.ok) throw new Error((await answer.json()).message)
  const reader = answer.body.getReader()
  let have = new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error('the connection was cut: watch again, from the last revision')
    have = new Uint8Array([...have, ...value])
    while (have.length >= 5) {
      const end = 5 + new DataView(have.buffer).getUint32(1)
      if (have.length < end) break
      const message = JSON.parse(new TextDecoder().decode(have.subarray(5, end)))
      if (have[0] & 2) { if (message.error) throw new Error(message.error.message); return }
      have = have.slice(end)
      yield message
    }
  }
}

const token = prompt('domtap token')
let place = {}
for await (const m of watch(token, { tabId: 't1', format: 'FORMAT_DIFF', ...place })) {
  place = { fromRevision: m.revision, epoch: m.epoch } // resume from here after a lost connection
  if (m.diff) console.log(m.text)
}
