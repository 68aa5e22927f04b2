import { z } from 'zod';

/** Letters before which a joiner shapes what people see: those of scripts such as Persian or Hindi. */
const joined = String.raw`[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]]`;
/** What parts of an emoji follow, such as the colour of a heart, or the second person of a couple. */
const pictured = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]`;

/**
 * Characters that nobody sees, or that turn the direction of other text: with them, one name can look like another. Joiners are accepted where they
 * change what is seen.
 */
const misleading = new RegExp(
  String.raw`(?:(?!(?<=${joined})[\u200c\u200d]|(?<=${pictured})[\u200d\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}])`,
  'v',
);

/** What is wrong with text that people read in one line: names the first character that may not stand in it. Null: nothing. */
export function findMisleading(text: string): string | null {
  const found = misleading.exec(text)?.[0].codePointAt(0);
  if (found === undefined) return null;
  const point = `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
  return `must not contain the character ${point}: expected one line of visible characters, none of which turns the direction of text`;
}

/** Text that people read in one line: it is refused if it holds characters that mislead them, and the refusal names the first. */
export function readable<Schema extends z.ZodType<string>>(schema: Schema): Schema {
  return schema.refine((text) => findMisleading(text) === null, {
    error: ({ input }) => findMisleading(String(input)) ?? undefined,
  });
}

/** A name that people give to something or somebody, for others to read. */
export function humanName(mostCharacters: number) {
  return readable(z.string().trim().min(1, { error: 'must not be empty' }).max(mostCharacters));
}
