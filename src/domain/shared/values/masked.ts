import type { JsonValue } from './json.ts';
import type { Unrepresentable } from './representable.ts';

/** Values and outputs in the form that people see, with secrets masked. */

export type Masked = { sensitive: true };
export interface MaskedOutput {
  value: JsonValue | null;
  sensitive: boolean;
  /** The parts of the value that could not be stored. Absent: the value is complete. */
  unrepresentable?: Unrepresentable[] | undefined;
}
export type MaskedOutputs = Record<string, MaskedOutput>;
