import { Decimal } from '#domain/shared/values/decimal.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { hasUnrepresentable } from '#domain/shared/values/representable.ts';
import type { InstanceReference } from '#domain/variables/reference-syntax.ts';
import { type Problem, pointer } from './problems.ts';
import { budgetInWords, ReferenceBudget } from './reference-budget.ts';
import { describeReference, type Reference, splitText } from './reference-syntax.ts';

export type { Reference } from './reference-syntax.ts';

/** The value of a variable or of an output, as a whole: `resolveReferences` follows the reference's path into it. */
export interface Known {
  readonly value: JsonValue;
  readonly isSensitive: boolean;
}

/**
 * A reference failed: it has no value, its value cannot be put into a text, or it exceeds the budget. The message never repeats a value.
 */
export class ReferenceFailed extends Error {
  readonly reference: Reference | null;

  constructor(reference: Reference | null, message: string) {
    super(message);
    this.reference = reference;
  }
}

/** The references in a value, in their order. Malformed ones are left out (`findMalformed`). */
export function findReferences(value: JsonValue): Reference[] {
  return [...textsIn(value)].flatMap(({ text }) =>
    splitText(text).flatMap((part) => (part.kind === 'reference' ? [part.reference] : [])),
  );
}

/** The references, each with the path of its text, and whether the text consists only of the reference. */
export function locateReferences(
  value: JsonValue,
  base = '',
): { path: string; reference: Reference; isWhole: boolean }[] {
  return [...textsIn(value, base)].flatMap(({ path, text }) => {
    const parts = splitText(text);
    return parts.flatMap((part) =>
      part.kind === 'reference' ? [{ path, reference: part.reference, isWhole: parts.length === 1 }] : [],
    );
  });
}

/** The places of references to outputs of instances outside the assembly. */
export function locateInstanceReferences(
  value: JsonValue,
  base = '',
): { path: string; reference: InstanceReference }[] {
  return [...textsIn(value, base)].flatMap(({ path, text }) =>
    splitText(text).flatMap((part) => (part.kind === 'instance' ? [{ path, reference: part.reference }] : [])),
  );
}

/** The problems of texts that look like references but are not valid ones. */
export function findMalformed(value: JsonValue, base = ''): Problem[] {
  return [...textsIn(value, base)].flatMap(({ path, text }) =>
    splitText(text).flatMap((part) => (part.kind === 'malformed' ? [{ path, message: part.message }] : [])),
  );
}

/**
 * The value with every reference replaced. A text that consists only of a reference becomes the value itself, with its type. Inside a
 * longer text, strings, numbers and booleans are inserted. Every use of a reference is charged to the budget before a text is built.
 * @throws ReferenceFailed
 */
export function resolveReferences(
  value: JsonValue,
  find: (reference: Reference) => Known | undefined,
  budget = new ReferenceBudget(),
  findInstance: (reference: InstanceReference) => Known | undefined = () => undefined,
): { value: JsonValue; isSensitive: boolean } {
  let isSensitive = false;
  const readInstance = (reference: InstanceReference): JsonValue => {
    const known = findInstance(reference);
    if (!known) throw new ReferenceFailed(null, `${reference.text} has no value here`);
    isSensitive ||= known.isSensitive;
    if (!budget.pay(known.value))
      throw new ReferenceFailed(null, `with ${reference.text}, the references give too much`);
    return known.value;
  };
  const read = (reference: Reference): JsonValue => {
    const known = find(reference);
    if (!known) throw new ReferenceFailed(reference, `${describeReference(reference)} has no value`);
    isSensitive ||= known.isSensitive;
    const found = follow(reference, known.value);
    if (hasUnrepresentable(found))
      throw new ReferenceFailed(
        reference,
        `${describeReference(reference)} has a part that cannot be stored, so it cannot be passed on`,
      );
    if (!budget.pay(found)) throw new ReferenceFailed(reference, describeExcess(reference));
    return found;
  };
  return { value: resolve(value, { read, readInstance }), isSensitive };
}

function describeExcess(reference: Reference): string {
  return `with ${describeReference(reference)}, the references give more than ${budgetInWords}: refer to less, or to a part of it`;
}

interface Readers {
  readonly read: (reference: Reference) => JsonValue;
  readonly readInstance: (reference: InstanceReference) => JsonValue;
}

function resolve(value: JsonValue, readers: Readers): JsonValue {
  if (typeof value === 'string') return resolveText(value, readers);
  if (Array.isArray(value)) return value.map((item) => resolve(item, readers));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, readers)]));
}

function resolveText(text: string, { read, readInstance }: Readers): JsonValue {
  const parts = splitText(text);
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'reference') return read(only.reference);
  if (only?.kind === 'instance') return readInstance(only.reference);
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      if (part.kind === 'malformed') throw new ReferenceFailed(null, part.message);
      if (part.kind === 'instance')
        throw new ReferenceFailed(null, `${part.reference.text} has no place inside a text`);
      return asText(part.reference, read(part.reference));
    })
    .join('');
}

function asText(reference: Reference, value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof Decimal) return String(value);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
  throw new ReferenceFailed(
    reference,
    `${describeReference(reference)} is ${kind}, which has no place inside a text: let the value be nothing but the reference`,
  );
}

/** The member to which the reference's path leads. Inherited members do not count. */
function follow(reference: Reference, value: JsonValue): JsonValue {
  let member: JsonValue = value;
  for (const step of reference.path) {
    const inside: JsonValue | undefined =
      (isJsonObject(member) || Array.isArray(member)) && Object.hasOwn(member, step)
        ? (member as Record<string | number, JsonValue>)[step]
        : undefined;
    if (inside === undefined || (Array.isArray(member) && typeof step !== 'number')) {
      throw new ReferenceFailed(reference, `${describeReference(reference)} has no value: there is no "${step}" in it`);
    }
    member = inside;
  }
  return member;
}

function* textsIn(value: JsonValue, path = ''): Generator<{ path: string; text: string }> {
  if (typeof value === 'string') yield { path, text: value };
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return;
  for (const [name, member] of Object.entries(value)) yield* textsIn(member, path + pointer(name));
}
