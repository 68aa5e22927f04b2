import { z } from 'zod';
import { keptModulesLimits } from '#domain/registry/kept-modules/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type ExecutionReason, executionReasons } from '#domain/shared/vocabulary/run-reasons.ts';

/** Schemas of values that several messages between a worker and its executor host contain. */
export const text = z.string().max(1024 * 1024);
export const positive = z
  .int()
  .min(1)
  .max(2 ** 31);
export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const json = z.custom<JsonValue>((value) => value !== undefined);
export const reason = z.enum(Object.keys(executionReasons) as [ExecutionReason, ...ExecutionReason[]]);

export const Phase = z.enum(['plan', 'apply', 'detect']);
export const Tool = z.object({ name: z.enum(['opentofu', 'terraform']), version: z.string().max(100) });
/** Redacted texts of resources, by the index of the managed object in the state. */
export const MaskedAddresses = z.record(
  z.string().regex(/^\d{1,9}$/),
  z.partialRecord(z.enum(['address', 'module', 'type', 'name', 'provider']), text),
);
export const Modules = z.object({
  digest,
  list: z
    .array(
      z.object({
        key: z.string().max(4_096),
        source: z.string().max(4_096),
        version: z.string().max(255).nullable(),
        digest,
      }),
    )
    .max(keptModulesLimits.packages),
});
