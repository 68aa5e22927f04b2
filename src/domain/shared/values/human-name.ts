import { z } from 'zod';

/** The scripts whose letters change their shape next to a joiner: joined scripts, such as Arabic, and the Indic scripts. */
const joiningScripts = [
  'Adlam',
  'Arabic',
  'Balinese',
  'Bengali',
  'Chakma',
  'Devanagari',
  'Gujarati',
  'Gurmukhi',
  'Hanifi_Rohingya',
  'Javanese',
  'Kannada',
  'Khmer',
  'Malayalam',
  'Mandaic',
  'Mongolian',
  'Myanmar',
  'Newa',
  'Nko',
  'Oriya',
  'Sinhala',
  'Sundanese',
  'Syriac',
  'Tai_Tham',
  'Tamil',
  'Telugu',
  'Tibetan',
  'Tirhuta',
] as const;

/** More marks above or below one letter would cover other lines. Marks with a width of their own do not count: Burmese has many. */
const maxMarks = 4;

const letters = String.raw`[\p{L}&&[${joiningScripts.map((script) => String.raw`\p{Script_Extensions=${script}}`).join('')}]]`;
const afterLetter = String.raw`(?<=${letters}\p{M}{0,${maxMarks}})`;
const pictograph = String.raw`\p{Extended_Pictographic}`;

/** Places where characters without width change what people see: in words of such scripts, and inside emoji. */
const shaping = [
  String.raw`${afterLetter}\u200d`,
  // At the end of a word, this character would be invisible.
  String.raw`${afterLetter}\u200c(?=[\p{L}\p{M}])`,
  String.raw`(?<=[${pictograph}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=${pictograph})`,
  String.raw`(?<=${pictograph})\ufe0f`,
].join('|');

/** Controls, characters that change the reading direction, fillers that look like spaces, and characters without a standard appearance. */
const unseen = String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]`;
const otherSpace = String.raw`[\p{Zs}--\u0020]`;
const pile = String.raw`(?<=[\p{Mn}\p{Me}]{${maxMarks}})[\p{Mn}\p{Me}]`;

/** Characters that a name must not contain, because they could make it look like another name, or cover the text around it. */
const rules: readonly { readonly pattern: string; readonly complain: (point: string) => string }[] = [
  {
    pattern: `(?!${shaping})${unseen}`,
    complain: (point) =>
      `must not contain the character ${point}: expected one line of visible characters, none of which turns the direction of text`,
  },
  {
    pattern: otherSpace,
    complain: (point) => `must not contain the character ${point}: the only space that names may have is U+0020`,
  },
  { pattern: pile, complain: () => `must not have more than ${maxMarks} combining marks in a row` },
];
const compiled = rules.map(({ pattern, complain }) => ({ pattern: new RegExp(pattern, 'v'), complain }));
const misleading = new RegExp(`(?:${rules.map(({ pattern }) => pattern).join('|')})+`, 'gv');

/** What is wrong with text that people read in one line: names the first character that is not allowed. Null if all are allowed. */
export function findMisleading(text: string): string | null {
  for (const { pattern, complain } of compiled) {
    const found = pattern.exec(text)?.[0].codePointAt(0);
    if (found !== undefined) return complain(`U+${found.toString(16).toUpperCase().padStart(4, '0')}`);
  }
  return null;
}

/** The text with a space in place of each character that `findMisleading` would refuse. */
export function withoutMisleading(text: string): string {
  return text.replaceAll(misleading, ' ');
}

/** Adds a check to a schema for text that people read in one line: it refuses misleading characters and names the first. */
export function readable<Schema extends z.ZodType<string>>(schema: Schema): Schema {
  return schema.refine((text) => findMisleading(text) === null, {
    error: ({ input }) => findMisleading(String(input)) ?? undefined,
  });
}

/** A name that people give to something or somebody, for others to read. */
export function humanName(maxCharacters: number) {
  return readable(z.string().trim().min(1, { error: 'must not be empty' }).max(maxCharacters));
}
