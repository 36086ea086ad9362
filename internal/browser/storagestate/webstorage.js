// @ts-check
// Changes and reads the local or session storage of the current document, and returns JSON. Pages cannot see the script, because it runs
// in an empty document or in an isolated world.
(({ origin, local, clear, remove, set, limit }) => {
  if (self.origin !== origin) return JSON.stringify({ elsewhere: true })
  try {
    const area = local ? localStorage : sessionStorage
    if (clear) area.clear()
    for (const name of remove) area.removeItem(name)
    for (const [name, value] of set) area.setItem(name, value)
    const entries = []
    let size = 0
    for (let i = 0; i < area.length; i++) {
      const name = area.key(i)
      const value = area.getItem(name)
      if ((size += name.length + value.length) > limit) return JSON.stringify({ tooMuch: true })
      entries.push([name, value])
    }
    return JSON.stringify({ entries })
  } catch (error) {
    return JSON.stringify(error.name === 'QuotaExceededError' ? { full: true } : { failed: error.message })
  }
})
