// The state of the page as the fragment of a link: JSON, deflated, in base64url. For an example it is
// its name alone.

export const maxFragment = 64 * 1024; // characters
const maxBody = 65536; // characters of an issue's body, as GitHub has it
const maxState = 1024 * 1024; // bytes of its JSON

/** named returns the fragment for the example with a title. */
export const named = (title) => "example=" + title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");

/** nameOf returns the name of an example in a fragment; null: it has a state. */
export const nameOf = (fragment) => (fragment.startsWith("example=") ? fragment.slice("example=".length) : null);

/** filled returns the fields of an object that are not empty, because checked adds the others again. */
function filled(fields) {
  const empty = (v) => v === "" || (Array.isArray(v) && v.length === 0) || (v?.constructor === Object && Object.keys(v).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => !empty(v)));
}

/** encode returns the fragment of a state; null: it would be too long for a link. */
export async function encode(state) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(filled({ ...state, values: filled(state.values) }))), new CompressionStream("deflate-raw"), maxFragment);
  if (!packed) return null;
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  const text = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text.length <= maxFragment ? text : null;
}

/** decode returns the state of a fragment, which anybody may have written. It throws an Error that names the mistake. */
export async function decode(fragment) {
  if (fragment.length > maxFragment) throw new Error("the link is too long");
  if (!/^[A-Za-z0-9_-]+$/.test(fragment)) throw new Error("the link is not one of this page");
  let plain;
  try {
    const packed = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    plain = await through(packed, new DecompressionStream("deflate-raw"), maxState);
  } catch {
    throw new Error("the link is cut off or changed");
  }
  if (!plain) throw new Error("the link holds too much");
  let state;
  try {
    state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain));
  } catch {
    throw new Error("the link is cut off or changed");
  }
  return checked(state);
}

/** checked returns the known fields of a state, all of the right type. */
export function checked(state) {
  const object = (v) => (v && typeof v === "object" && !Array.isArray(v) ? v : {});
  const text = (v) => (typeof v === "string" ? v : "");
  const { rules, event, payload, values } = object(state);
  const value = (v) => (Array.isArray(v) ? v.slice(0, 1000).map(text) : typeof v === "number" || typeof v === "boolean" ? v : text(v).slice(0, maxBody));
  return {
    rules: text(rules),
    event: text(event),
    payload: text(payload),
    case: text(object(state).case),
    values: Object.fromEntries(Object.entries(object(values)).slice(0, 100).map(([name, v]) => [name, value(v)])),
  };
}

/** through sends bytes through a stream; null: more than limit bytes come out. */
async function through(bytes, stream, limit) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      return null;
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
