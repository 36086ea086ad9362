// Runs in the hidden page of package clipboard, which has no other script. Copied content never leaves this page.
(() => {
  "use strict";
  const kept = new Map();

  // save stores the content of the clipboard under a key, unless it has more than limit bytes.
  const save = async (key, limit) => {
    kept.delete(key);
    const items = [];
    let size = 0;
    for (const item of await navigator.clipboard.read({ unsanitized: ["text/html"] })) {
      const parts = {};
      for (const type of item.types) {
        parts[type] = await item.getType(type);
        if ((size += parts[type].size) > limit) return false;
      }
      items.push(new ClipboardItem(parts));
    }
    if (size > 0) kept.set(key, items);
    return size > 0;
  };

  // load replaces the content of the clipboard by the content stored under a key, or by nothing if there is none.
  const load = async (key) => {
    const items = kept.get(key);
    await navigator.clipboard.writeText("");
    if (items) await navigator.clipboard.write(items);
    return !!items;
  };

  return (command, key, limit) => {
    if (command === "save") return save(key, limit);
    if (command === "load") return load(key);
    return kept.delete(key);
  };
})()
