/** Resource addresses in options. The same address may be written in several ways, and a plan contains one of them. */

const step =
  /\s*(?:(?<dot>\.)|(?<name>[\p{ID_Start}_][\p{ID_Continue}-]*)|\[\s*(?:(?<number>\d+)|"(?<text>(?:[^"\\\n]|\\.)*)")\s*\])/uy;

/**
 * Parses an address into its parts, as JSON: two texts are the same address if their parts are equal. Null if the text has another syntax.
 */
function partsOf(address: string): string | null {
  const parts: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < address.trimEnd().length) {
    const found = step.exec(address)?.groups;
    if (!found) return null;
    const { name, number, text } = found;
    if (name !== undefined) parts.push(`name ${name.normalize('NFC')}`);
    if (number !== undefined) parts.push(Number(number));
    if (text !== undefined) parts.push(`text ${withoutEscapes(text).normalize('NFC')}`);
  }
  return JSON.stringify(parts);
}

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function withoutEscapes(text: string): string {
  return text
    .replaceAll(/\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gu, (_, short?: string, long?: string, letter = '') =>
      short || long ? fromCode(Number.parseInt(short ?? long ?? '', 16)) : (letters[letter] ?? letter),
    )
    .replaceAll('$${', '${')
    .replaceAll('%%{', '%{');
}

function fromCode(code: number): string {
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}

/**
 * Whether each address of a plan was requested. If a requested address has an unknown syntax, it may mean any address, so all are accepted.
 */
export function areGiven(found: readonly string[], given: readonly string[]): boolean {
  const known = given.map(partsOf);
  if (known.includes(null)) return true;
  return found.every((address) => known.includes(partsOf(address)));
}
