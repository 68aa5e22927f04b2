import { z } from 'zod';
import { fromNpmRange } from './npm-ranges.ts';
import { maxRangeLength, parseRange } from './ranges.ts';

/** The tools that deploy templates of the kind `opentofu`, those that are preferred first. */
export const toolNames = ['opentofu', 'terraform'] as const;
export type ToolName = (typeof toolNames)[number];

/** A tool in a version, as a worker has it. */
export interface VersionedTool {
  readonly name: string;
  readonly version: string;
}

/** What is right in place of a text that is not a range. Who writes one of npm reads the same range as the tools write it. */
export function explainRange(text: string): string {
  const translated = fromNpmRange(text);
  if (translated)
    return `expected a range as the tools write it: ${translated.map((each) => `"${each}"`).join(' or ')}`;
  return 'expected a range of versions, such as "~> 1.9", ">= 1.5, < 2.0" or "1.12.6"';
}

/** What a template version, an environment or an instance asks for. Without a range, any version will do. */
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
