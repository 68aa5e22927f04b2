/** Characters that break a secret without being seen, and colours, which pages show as such. */

/** What the matcher passes over, in bytes as latin1: a tab and a line feed can be part of a secret. */
const skipped = /\x1b\[[0-9;]{0,16}[mK]|[\x00-\x08\x0b-\x1f\x7f]/g;
const unseen = /\x1b\[[0-9;:?]{0,64}[A-Za-z]|(?![\t\n])[\p{Cc}\p{Cf}]/gu;

export function withoutSkipped(bytes: string): string {
  return bytes.replace(skipped, '');
}

/** The text as whoever removes all control characters from it, or draws them as nothing. */
export function withoutControls(text: string): string {
  return text.replace(unseen, '');
}
