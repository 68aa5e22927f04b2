import { z } from 'zod';
import { fromNpmRange } from './npm-ranges.ts';
import { maxRangeLength, parseRange } from './ranges.ts';

/** The tools that deploy templates of the kind `opentofu`, the preferred one first. */
export const toolNames = ['opentofu', 'terraform'] as const;
export type ToolName = (typeof toolNames)[number];

/** A version of a tool that a worker has. */
export interface VersionedTool {
  readonly name: string;
  readonly version: string;
}

/** Describes the expected form, for a text that is not a range. For a range of npm, it contains the same range in the tools' language. */
export function explainRange(text: string): string {
  const translated = fromNpmRange(text);
  if (translated)
    return `expected a range as the tools write it: ${translated.map((each) => `"${each}"`).join(' or ')}`;
  return 'expected a range of versions, such as "~> 1.9", ">= 1.5, < 2.0" or "1.12.6"';
}

/** The tool that a template version, an environment or an instance requires. Without a range, every version is allowed. */
export const WantedTool = z
  .strictObject({
    name: z.enum(toolNames, { error: 'expected "opentofu" or "terraform"' }),
    version: z
      .string()
      .max(maxRangeLength)
      .refine((text) => parseRange(text) !== undefined, { error: ({ input }) => explainRange(String(input)) })
      .optional(),
  })
  .meta({ id: 'WantedTool' });
export type WantedTool = z.output<typeof WantedTool>;
