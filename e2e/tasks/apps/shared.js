// What the applications share: the way to their backend, and toasts without a role, as many have them.
export async function save(what, value) {
  const answer = await fetch("/api/" + what, { method: "POST", body: JSON.stringify(value) });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

export function toast(text) {
  const box = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
  document.body.append(box);
  setTimeout(() => box.remove(), 4000);
  return box;
}

export const escape = (text) => new Option(text).innerHTML;
