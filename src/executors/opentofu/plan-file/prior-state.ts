import { readStateDocument } from '../state/state-document.ts';

/**
 * An apply goes on from the state in the plan, which is the one that the tool was given, refreshed. @throws Error if it follows another
 * state
 */
export function verifyPriorState(prior: Buffer, given: Buffer | null): void {
  const found = readStateDocument(prior);
  const expected = given === null ? null : readStateDocument(given);
  const isEmpty = found.lineage === null && (found.serial ?? 0) === 0;
  // The tool decrypts a state only while it runs, and checks this itself.
  if (expected === null ? isEmpty : expected.isEncrypted) return;
  if (found.lineage !== expected?.lineage || found.serial !== expected?.serial) throw new Error('it has another state');
}
