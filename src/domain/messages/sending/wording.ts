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
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, ' ');
}
