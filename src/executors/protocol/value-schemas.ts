import { type ZodType, z } from 'zod';
import type { MaskedAddresses as MaskedAddressesOfState } from '#domain/instances/state-file/shown-resource.ts';
import { keptModulesLimits, type ResolvedModule } from '#domain/registry/kept-modules/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type ExecutionReason, executionReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { logPhases } from '#domain/shared/vocabulary/runs.ts';
import { toolNames } from '#domain/tools/model.ts';

/** Schemas of values that several messages between a worker and its executor host contain. */

/**
 * The schemas of all fields of a type of the domain. A field without a schema would be dropped from the messages, so it does not compile.
 */
export type FieldsOf<T> = { readonly [Name in keyof Required<T>]: ZodType<T[Name]> };

/** A message, which neither end changes. */
export type Message<T> = JsonValue extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Message<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Message<T[Name]> }
      : T;

export const text = z.string().max(1024 * 1024);
export const positive = z
  .int()
  .min(1)
  .max(2 ** 31);
export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const json = z.custom<JsonValue>((value) => value !== undefined);
export const reason = z.enum(Object.keys(executionReasons) as [ExecutionReason, ...ExecutionReason[]]);

/** `detect` only looks: it stores no state, and its plan cannot be applied. */
export const Phase = z.enum(logPhases);
export const Tool = z.object({ name: z.enum(toolNames), version: z.string().max(100) });
/** Redacted texts of resources, by the index of the managed object in the state. */
export const MaskedAddresses = z.record(
  z.string().regex(/^\d{1,9}$/),
  z.partialRecord(z.enum(['address', 'module', 'type', 'name', 'provider']), text),
) satisfies ZodType<MaskedAddressesOfState>;
export const Modules = z.object({
  digest: z.union([digest, z.literal('')]),
  list: z
    .array(
      z.object({
        key: z.string().max(4_096),
        source: z.string().max(4_096),
        version: z.string().max(255).nullable(),
        digest,
      } satisfies FieldsOf<ResolvedModule>),
    )
    .max(keptModulesLimits.packages),
  locks: z.record(z.string().max(100), z.string().max(keptModulesLimits.lock)),
});
