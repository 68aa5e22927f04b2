import { keepsDigits } from '#domain/shared/values/decimal.ts';
import { maxDigits } from '#domain/shared/values/strict-json.ts';
import { DraftUnreadable } from './draft.ts';

/** Refuses content that no draft may contain, in YAML or JSON. */

type Position = ConstructorParameters<typeof DraftUnreadable>[1];

/** @throws DraftUnreadable if the object has the name already, or if it is one that the service reserves */
export function refuseName(name: string, names: Set<string>, position: Position): void {
  if (name === '__proto__') throw new DraftUnreadable('"__proto__" is a name that the service reserves', position);
  if (names.has(name))
    throw new DraftUnreadable(`the name ${JSON.stringify(name)} stands twice in one object`, position);
  names.add(name);
}

/** Numbers of YAML, including forms that JSON does not have: `+1`, `.5`, `1.` */
const yamlDecimal = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Numbers are refused as in the body of a request. @throws DraftUnreadable if JSON cannot write the number, or if it would lose digits */
export function refuseNumber(value: number, written: string, position: Position): void {
  if (!Number.isFinite(value)) throw new DraftUnreadable('the spec holds a number that JSON does not have', position);
  const isInteger = /^[-+]?0x/.test(written) || !/[.eE]/.test(written);
  if (isInteger && !Number.isSafeInteger(value))
    throw new DraftUnreadable('an integer beyond 2^53 would lose digits: write it as a text, in quotes', position);
  if (!isInteger && yamlDecimal.test(written) && !keepsDigits(toJson(written)))
    throw new DraftUnreadable(
      `a number with more than ${maxDigits} digits would lose some: write it as a text, in quotes`,
      position,
    );
}

function toJson(written: string): string {
  return written
    .replace(/^([-+]?)\./, '$10.')
    .replace(/\.(?!\d)/, '')
    .replace(/^\+/, '');
}
