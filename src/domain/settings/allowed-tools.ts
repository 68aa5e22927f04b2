import { z } from 'zod';
import { explainRange, toolNames } from '#domain/tools/model.ts';
import { fromNpmRange } from '#domain/tools/npm-ranges.ts';
import { maxRangeLength, maxTranslatedLength, parseRange } from '#domain/tools/ranges.ts';

/** The tools that run templates. `command` means the programs that command templates run, which have no version. */
export const allowableTools = [...toolNames, 'command'] as const;

/** Used instead of a range for all versions except pre-releases. */
export const allReleases = '*';

/**
 * Earlier releases stored up to 20 texts of 200 characters for a tool. With this limit, the converted form of such a value can be saved
 * again, even if its texts consist of the shortest alternatives.
 */
const maxRanges = 20 * Math.ceil(maxRangeLength / '0||'.length);

const AllowedRange = z
  .string()
  .max(maxTranslatedLength)
  .refine((text) => text === allReleases || parseRange(text) !== undefined, {
    error: ({ input }) => `${explainRange(String(input))}, or "${allReleases}" for all`,
  });

/** The versions of each tool that may be used. A tool that is not named may not be used. */
export const AllowedTools = z
  .partialRecord(z.enum(allowableTools), z.array(AllowedRange).min(1).max(maxRanges))
  .refine((tools) => Object.keys(tools).length > 0, {
    error: 'must name at least one tool, or be null to allow all',
  });
export type AllowedTools = z.output<typeof AllowedTools>;

/**
 * A range as it is stored. Earlier releases stored a text in the language of npm, in which the same text can mean other versions. A range
 * in the language of the tools is stored in an object, so that no release misinterprets the other's values.
 */
const StoredRange = z.union([
  z.object({ range: z.string() }).transform(({ range }) => [range]),
  z.string().transform((text, context) => {
    const ranges = text.trim() === allReleases ? [allReleases] : fromNpmRange(text);
    if (!ranges) context.addIssue({ code: 'custom', message: 'expected a range of npm' });
    return ranges ?? [];
  }),
]);

export const StoredTools = z.partialRecord(
  z.enum(allowableTools),
  z.array(StoredRange).transform((ranges) => ranges.flat()),
);

export function toStoredTools(allowed: AllowedTools): z.input<typeof StoredTools> {
  return Object.fromEntries(
    Object.entries(allowed).map(([name, ranges]) => [name, ranges.map((range) => ({ range }))]),
  );
}
