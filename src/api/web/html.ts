import { html as escapingHtml } from 'hono/html';

/** Markup whose values have been escaped. */
export type Html = ReturnType<typeof escapingHtml>;

/**
 * The one way to write markup: every value is escaped, in text and in quoted attributes; nested markup and lists of it
 * pass, null and false vanish.
 */
export const html = escapingHtml;
