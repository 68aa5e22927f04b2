import { cutText } from '#domain/shared/values/cut-text.ts';
import { withoutMisleading } from '#domain/shared/values/human-name.ts';

/** What a message says, whatever carries it. */
export interface Wording {
  readonly subject: string;
  /** Whole sentences, in their order. */
  readonly lines: readonly string[];
  readonly link: { readonly label: string; readonly url: string } | null;
  /** Why the recipient gets it. */
  readonly reason: string;
}

/** A mail may have a subject of one line alone, and mail programs cut long ones. */
const maxSubjectLength = 150;

export function toSubject(text: string): string {
  const line = withoutMisleading(text).replaceAll(/\s+/g, ' ').trim();
  return cutText(line, maxSubjectLength);
}

/**
 * Text of users, such as a name, as it stands in a message. Mail programs and chats make links of what looks like an address, so the signs that
 * make it one are put in brackets: `https[:]//evil[.]example`. Signs without width would not do, because browsers ignore them in addresses. Numbers
 * such as 1.2 keep their dots.
 */
export function asForeignText(text: string): string {
  return withoutMisleading(text)
    .replaceAll(/[:：](?=[/／]{2})/gu, '[:]')
    .replaceAll(/(?<=[^\s.])[.。．｡․](?=[^\s.])/gu, (dot, at: number, whole: string) =>
      /\d/.test(whole[at - 1] ?? '') && /\d/.test(whole[at + 1] ?? '') ? dot : '[.]',
    );
}
