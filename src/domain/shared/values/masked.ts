import type { JsonValue } from './json.ts';
import type { Unrepresentable } from './representable.ts';

/** Values and outputs as people are shown them: without what is secret. */

export type Masked = { sensitive: true };
export interface MaskedOutput {
  value: JsonValue | null;
  sensitive: boolean;
  /** The parts of the value that the database cannot hold. Absent: it has all of them. */
  unrepresentable?: Unrepresentable[] | undefined;
}
export type MaskedOutputs = Record<string, MaskedOutput>;
