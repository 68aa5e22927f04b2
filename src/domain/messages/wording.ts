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
const longestSubject = 150;

export function toSubject(text: string): string {
  const line = withoutControls(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > longestSubject ? `${line.slice(0, longestSubject - 1)}…` : line;
}

/** Names come from users: without characters that would end a header, hide text or turn its direction. */
export function withoutControls(text: string): string {
  return text.replaceAll(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    ' ',
  );
}

/**
 * Text of users, such as a name, as it stands in a message. Mail programs and chats make links of what looks like an address, so the signs that
 * make it one are put in brackets: `https[:]//evil[.]example`. Signs without width would not do, because browsers ignore them in addresses. Numbers
 * such as 1.2 keep their dots.
 */
export function asForeignText(text: string): string {
  return withoutControls(text)
    .replaceAll(/[:：](?=[/／]{2})/gu, '[:]')
    .replaceAll(/(?<=[^\s.])[.。．｡․](?=[^\s.])/gu, (dot, at: number, whole: string) =>
      /\d/.test(whole[at - 1] ?? '') && /\d/.test(whole[at + 1] ?? '') ? dot : '[.]',
    );
}
