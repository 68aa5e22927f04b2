/** Texts that break pages which trust them. */

const script = '<script>document.title = "owned"</script>';
const attribute = '"><img src=x onerror="document.title=1"><svg onload=alert(1)>';
/** Shows what follows from right to left, such as `gnp.exe` for `exe.png`. */
const bidi = 'invoice\u202egnp.exe\u2066\u2069';
const zeroWidth = 'pay\u200bments\u2060\ufeff\u00ad';
const templates = `{{constructor.constructor("alert(1)")()}} \${7*7} <%= 7*7 %> [[7*7]]`;
/** No browser may break it unless the page allows to. */
const word = 'W'.repeat(400);
const combining = `Z${'\u0335\u0322\u034d'.repeat(12)}algo`;

/** A name of at most this many characters, with most of what breaks pages. */
export function hostileName(longest = 100): string {
  return `${attribute}${bidi}${zeroWidth}`.slice(0, longest - 1).toWellFormed();
}

/** The same name as far as it is accepted today. Names that were saved before may be `hostileName`. */
export function savedName(longest = 100): string {
  return hostileName(longest).replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** One word of this many letters. */
export function longWord(letters = 100): string {
  return word.slice(0, letters);
}

/** Text of several lines. */
export const hostileText = [
  script,
  attribute,
  bidi,
  zeroWidth,
  templates,
  combining,
  word,
  '</textarea></pre></td>',
].join('\n');

const csi = '\u001b[';
const osc = '\u001b]';
const bell = '\u0007';

/** Lines of a log: sequences that move the cursor, change the title, link elsewhere, never end, or hide text. */
export const hostileLines: readonly string[] = [
  script,
  attribute,
  bidi,
  zeroWidth,
  combining,
  `${osc}8;;javascript:alert(1)${bell}a link${osc}8;;${bell}`,
  `${osc}8;;https://evil.example/${'x'.repeat(2000)}${bell}another link${osc}8;;${bell}`,
  `${osc}0;a new title${bell}${osc}52;c;ZXZpbA==${bell}the clipboard`,
  `${csi}2J${csi}H${csi}1;1Hthe screen was cleared`,
  `${csi}8mhidden${csi}0m ${csi}30;40mblack on black${csi}0m ${csi}38;5;999m${csi}38;2;999;1;1mno colours`,
  `${csi}${'1;'.repeat(5000)}mmany parameters`,
  `${osc}0;never ended`,
  `\u001bP1$r never ended either \u009b31m an 8-bit sequence`,
  'overwritten\rby this\rand this',
  'b\bbackspaces\b\b\b and a bell\u0007 and a null \u0000 and a form feed \f',
  word,
  'y'.repeat(1_000_000),
  `${csi}31m${'red '.repeat(20_000)}${csi}0m`,
  ...Array.from({ length: 200 }, (_, index) => `${csi}${30 + (index % 8)}mline ${index}`),
];
