import type { LocalPath } from './paths.ts';

const placeholderOrigin = 'http://service.invalid';
const maxLength = 2000;

/**
 * Reads a path of this service from a query or a form, and returns null for any other address. This prevents open redirects. Browsers read
 * `\` as `/`, drop tabs and line breaks, and resolve dots, so the text is resolved in the way of a browser.
 */
export function toLocalPath(text: unknown): LocalPath | null {
  if (typeof text !== 'string' || text.length > maxLength) return null;
  if (!text.startsWith('/') || /[\\\u0000-\u001f\u007f]/.test(text)) return null;
  if (!URL.canParse(text, placeholderOrigin)) return null;
  const { origin, pathname, search, hash } = new URL(text, placeholderOrigin);
  const path = `/${pathname.slice(1)}${search}${hash}` as const;
  return origin === placeholderOrigin && !path.startsWith('//') ? path : null;
}
