/** Puts the lines of a text into one line. A line that ends like a sentence, or introduces the next one, needs no separator; others get a semicolon. */
export function joinLines(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return lines
    .filter((line) => line !== '')
    .reduce((joined, line) => (joined === '' ? line : `${joined}${/[.!?:;,]$/.test(joined) ? '' : ';'} ${line}`), '');
}
