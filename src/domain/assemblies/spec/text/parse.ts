import { isLargerThan } from '#domain/registry/variables/json-size.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { findUnstorable } from '#domain/shared/values/storable.ts';
import { DraftUnreadable, maxDepth, type ParsedDraft } from './draft.ts';
import { readJson } from './json-source.ts';
import { maxValues } from './yaml-limits.ts';
import { readYaml } from './yaml-source.ts';

/** Reads the source text of a draft: JSON, or YAML 1.2. */

export { DraftUnreadable, type ParsedDraft } from './draft.ts';

export const maxSourceLength = 1024 * 1024;
const valueLimits = { values: maxValues, depth: maxDepth, bytes: 2 * maxSourceLength };
/** The maximum length of the path of a value, since messages repeat paths and long ones would make a huge answer. */
const maxPathLength = 1_000;
const top = { line: 1, column: 1 };

/**
 * Reads a draft. The result need not be a valid spec; `validateSpec` finds its problems. Long or hostile YAML takes seconds, so call it
 * through the evaluator.
 * @throws DraftUnreadable
 */
export function parseDraft(source: string): ParsedDraft {
  if (Buffer.byteLength(source) > maxSourceLength) throw new DraftUnreadable('the spec is larger than 1 MiB', top);
  const draft = readJson(source) ?? readYaml(source);
  if (isLargerThan(draft.value, valueLimits)) {
    const { values, bytes } = valueLimits;
    throw new DraftUnreadable(`the spec has more than ${values} values, or more than ${bytes} bytes of text`, top);
  }
  if (hasLongPath(draft.value))
    throw new DraftUnreadable(`the names around a value have more than ${maxPathLength} characters together`, top);
  const unstorable = findUnstorable(draft.value);
  if (unstorable !== null) throw new DraftUnreadable(`the spec ${unstorable}`, top);
  // In YAML, an alias is the same object as its anchor. The copy makes them separate objects.
  return { ...draft, value: JSON.parse(JSON.stringify(draft.value)) };
}

function hasLongPath(value: JsonValue, length = 0): boolean {
  if (length > maxPathLength) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => hasLongPath(member, length + 1 + name.length));
}
