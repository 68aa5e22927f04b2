import type { MaskedOutput, MaskedOutputs } from '#domain/shared/values/masked.ts';
import { representValue } from '#domain/shared/values/representable.ts';
import { findUnstorableText } from '#domain/shared/values/storable.ts';

/** How many levels of the stored outputs are around a value. */
const levelsAround = 2;
const maxNameLength = 1024;

/**
 * Makes outputs storable. An apply must be recorded even if its outputs contain values that the database refuses. Such values are marked
 * and listed, and the rest is kept. The state, which is stored as bytes, still contains them.
 */
export function representOutputs(outputs: MaskedOutputs): MaskedOutputs {
  return Object.fromEntries(Object.entries(outputs).map(([name, output]) => represent(name, output)));
}

function represent(name: string, output: MaskedOutput): [string, MaskedOutput] {
  const problem = findUnstorableText(name, maxNameLength);
  if (problem !== null) {
    const reason = `has a name that ${problem}`;
    const value = { unrepresentable: { reason } };
    return [writtenName(name), { ...output, value, unrepresentable: [{ path: '', reason }] }];
  }
  const { value, missing } = representValue(output.value, levelsAround);
  return [name, { ...output, value, ...(missing.length > 0 && { unrepresentable: missing }) }];
}

/** Escapes characters that cannot be stored, as JSON does. */
function writtenName(name: string): string {
  return JSON.stringify(name.slice(0, maxNameLength)).slice(1, -1);
}

/** The parts of masked outputs that are not stored, each with the name of its output. */
export function listUnrepresentable(outputs: MaskedOutputs): { output: string; path: string; reason: string }[] {
  return Object.entries(outputs).flatMap(([output, { unrepresentable = [] }]) =>
    unrepresentable.map(({ path, reason }) => ({ output, path, reason })),
  );
}
