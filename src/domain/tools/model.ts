import { z } from 'zod';
import { parseRange } from './ranges.ts';

/** The tools that deploy templates of the kind `opentofu`, those that are preferred first. */
export const toolNames = ['opentofu', 'terraform'] as const;
export type ToolName = (typeof toolNames)[number];

/** A tool in a version, as a worker has it. */
export interface VersionedTool {
  readonly name: string;
  readonly version: string;
}

/** What a template version, an environment or an instance asks for. Without a range, any version will do. */
export const WantedTool = z
  .strictObject({
    name: z.enum(toolNames, { error: 'expected "opentofu" or "terraform"' }),
    version: z
      .string()
      .max(200)
      .refine((text) => parseRange(text) !== undefined, {
        error: 'expected a range of versions, such as "~> 1.9", ">= 1.5, < 2.0" or "1.12.6"',
      })
      .optional(),
  })
  .meta({ id: 'WantedTool' });
export type WantedTool = z.output<typeof WantedTool>;
