const anywhere = 'http://service.invalid';
const longest = 2000;

/**
 * A path of this service out of what an address or a form says, so that nobody is sent elsewhere by a link to here; null
 * where it is anything else. Browsers read `\` as `/`, drop tabs and line breaks, and resolve dots: what is judged and
 * answered is the address as they would have it.
 */
export function toLocalPath(text: unknown): `/${string}` | null {
  if (typeof text !== 'string' || text.length > longest) return null;
  if (!text.startsWith('/') || /[\\\u0000-\u001f\u007f]/.test(text)) return null;
  if (!URL.canParse(text, anywhere)) return null;
  const { origin, pathname, search, hash } = new URL(text, anywhere);
  const path = `/${pathname.slice(1)}${search}${hash}` as const;
  return origin === anywhere && !path.startsWith('//') ? path : null;
}
