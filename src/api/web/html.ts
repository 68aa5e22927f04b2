import { html as escapingHtml } from 'hono/html';

/** Markup whose values have been escaped. */
export type Html = ReturnType<typeof escapingHtml>;

/**
 * The only way to write markup. Values are escaped in text and in quoted attributes; nested markup and lists of markup are
 * inserted as they are; null and false are left out.
 */
export const html = escapingHtml;
