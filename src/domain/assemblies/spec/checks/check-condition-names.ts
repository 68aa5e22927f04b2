import { suggest } from '#domain/shared/values/near-names.ts';
import type { ConditionReport } from '../conditions/satisfiability.ts';
import type { Draft } from '../draft-parts.ts';
import { explainUnknown } from './check-references.ts';

type Readable = Exclude<ConditionReport, { problem: string }>;

/** What a condition reads and the assembly does not have. */
export function checkConditionNames({ references, statuses }: Readable, draft: Draft): string[] {
  const keys = [...draft.keys];
  const unknownNodes = statuses
    .filter((key) => !draft.keys.has(key))
    .map((key) => `refers to the node "${key}", which this assembly does not have${suggest(key, keys)}`);
  const unknown = references.flatMap((reference) => explainUnknown(reference, draft) ?? []);
  return [...new Set([...unknownNodes, ...unknown])];
}
