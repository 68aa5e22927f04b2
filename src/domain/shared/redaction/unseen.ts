/** Removes invisible characters, which can interrupt a secret, and colours. */

/** The bytes that the matcher skips, decoded as latin1. A tab and a line feed are not skipped, because they can be part of a secret. */
const skipped = /\x1b\[[0-9;]{0,16}[mK]|[\x00-\x08\x0b-\x1f\x7f]/g;
const unseen = /\x1b\[[0-9;:?]{0,64}[A-Za-z]|(?![\t\n])[\p{Cc}\p{Cf}]/gu;

export function withoutSkipped(bytes: string): string {
  return bytes.replace(skipped, '');
}

/** The text as it appears where control characters are removed or not drawn. */
export function withoutControls(text: string): string {
  return text.replace(unseen, '');
}
