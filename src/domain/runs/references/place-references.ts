import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { escapeReference } from '#domain/variables/reference-syntax.ts';
import type { OutputRead } from './model.ts';

/**
 * Puts the references back into the value of one variable, where their outputs are now. Other texts that look like references are escaped.
 */
export function placeReferences(
  value: JsonValue,
  reads: readonly Pick<OutputRead, 'path' | 'reference'>[],
  pointer = '',
): JsonValue {
  const read = reads.find(({ path }) => path === pointer);
  if (read) return read.reference;
  if (typeof value === 'string') return escapeReference(value);
  if (Array.isArray(value)) return value.map((each, index) => placeReferences(each, reads, `${pointer}/${index}`));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    return [name, placeReferences(member, reads, `${pointer}/${escapePointer(name)}`)] as const;
  });
  return Object.fromEntries(members);
}

/** The variables that contain outputs, with the references put back, so that a new run reads the outputs again. */
export function placeAllReferences(
  variables: Readonly<Record<string, JsonValue>>,
  reads: readonly Pick<OutputRead, 'variable' | 'path' | 'reference'>[],
  isTakenOver: (name: string) => boolean = () => true,
): Record<string, JsonValue> {
  const named = [...new Set(reads.map(({ variable }) => variable))].filter(
    (name) => isTakenOver(name) && Object.hasOwn(variables, name),
  );
  const placed = named.map((name) => {
    const ofVariable = reads.filter(({ variable }) => variable === name);
    return [name, placeReferences(variables[name] ?? null, ofVariable)] as const;
  });
  return Object.fromEntries(placed);
}
