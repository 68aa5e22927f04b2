import { withoutMisleading } from '#domain/shared/values/human-name.ts';
import { cutText } from '#domain/shared/values/text.ts';

/** The text of a message, for every medium. */
export interface Wording {
  readonly subject: string;
  /** Whole sentences, in their order. */
  readonly lines: readonly string[];
  readonly link: { readonly label: string; readonly url: string } | null;
  /** Why the recipient gets the message. */
  readonly reason: string;
}

/** The maximum length of a subject, which must be one line; mail programs cut long ones. */
const maxSubjectLength = 150;

export function toSubject(text: string): string {
  const line = withoutMisleading(text).replaceAll(/\s+/g, ' ').trim();
  return cutText(line, maxSubjectLength);
}

/**
 * Makes text of users, such as a name, safe for a message. Mail programs and chats turn text that looks like an address into links, so its
 * punctuation is put in brackets: `https[:]//evil[.]example`. Zero-width characters would not help, because browsers ignore them in
 * addresses. Numbers such as 1.2 keep their dots.
 */
export function asForeignText(text: string): string {
  return withoutMisleading(text)
    .replaceAll(/[:：](?=[/／]{2})/gu, '[:]')
    .replaceAll(/(?<=[^\s.])[.。．｡․](?=[^\s.])/gu, (dot, at: number, whole: string) =>
      /\d/.test(whole[at - 1] ?? '') && /\d/.test(whole[at + 1] ?? '') ? dot : '[.]',
    );
}
