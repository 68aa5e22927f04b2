import type { Em } from '#database/database.ts';
import type { Position } from '../filter-store.ts';
import { isGenuine, type Seal } from './seal.ts';
import {
  countHiddenChanges,
  digestRecords,
  findUnsealed,
  firstPosition,
  isRemovedMonth,
  listSeals,
  readLastSeal,
  readSeal,
} from './store.ts';

export const problemKinds = [
  'records_changed',
  'records_missing',
  'records_added',
  'changes_hidden',
  'seal_changed',
  'seal_missing',
  'kept_seal_differs',
] as const;

/** A difference between the audit and its seals. */
export interface ChainProblem {
  readonly kind: (typeof problemKinds)[number];
  /** The position of the seal that proves it. */
  readonly position: number;
  /** The records lie after `from`, up to and including `until`. */
  readonly from: string | null;
  readonly until: string | null;
  readonly expected: number | null;
  readonly found: number | null;
}

/** A part of the chain that was verified. */
export interface Verification {
  readonly seals: number;
  /** The number of records that match their seals. */
  readonly records: number;
  /** The number of sealed records that the service has removed because their retention time was over. */
  readonly removed: number;
  readonly problems: readonly ChainProblem[];
  /** The newest seal. A copy of it elsewhere can later prove that the end of the audit was not removed. */
  readonly head: { readonly position: number; readonly seal: string; readonly until: string } | null;
  /** A worker seals every half minute, so records that stay unsealed for long are a sign that their seals were removed. */
  readonly unsealed: { readonly records: number; readonly since: string | null };
  /** Verification continues after this seal; null: this was the last part. */
  readonly nextAfter: number | null;
}

/** A seal that somebody has kept outside of the database. */
export interface KeptSeal {
  readonly position: number;
  readonly seal: string;
}

/** How much one request verifies. A seal covers 10,000 records at most. */
const maxSeals = 20;

/** The further inputs of the verification. */
interface Basis {
  /** The key of the seals. */
  readonly key: Buffer;
  /** The actions that change nothing. Only records of these may be marked as reads. */
  readonly readActions: readonly string[];
}

/** Compares the next seals after a position with the records that they cover, and with each other. */
export async function verifyChain(em: Em, by: Basis, after: number, kept: KeptSeal | null): Promise<Verification> {
  const [before, seals, last] = [
    await readSeal(em, after),
    await listSeals(em, after, maxSeals + 1),
    await readLastSeal(em),
  ];
  const part = seals.slice(0, maxSeals);
  const problems: ChainProblem[] = [];
  if (after > 0 && !before) problems.push(missing(after));
  if (kept) problems.push(...(await compareKept(em, kept)));
  let [records, removed, previous] = [0, 0, before];
  for (const seal of part) {
    const outcome = await verifySeal(em, by, previous, seal, after);
    records += outcome.records;
    removed += outcome.removed;
    problems.push(...outcome.problems);
    previous = seal;
  }
  return {
    seals: part.length,
    records,
    removed,
    problems,
    head: last ? { position: last.position, seal: last.seal.toString('hex'), until: last.until.at } : null,
    unsealed: await findUnsealed(em, last?.until ?? firstPosition),
    nextAfter: seals.length > maxSeals ? (part.at(-1)?.position ?? null) : null,
  };
}

interface Outcome {
  readonly records: number;
  readonly removed: number;
  readonly problems: readonly ChainProblem[];
}

async function verifySeal(
  em: Em,
  { key, readActions }: Basis,
  previous: Seal | undefined,
  seal: Seal,
  after: number,
): Promise<Outcome> {
  const position = (previous?.position ?? after) + 1;
  const from = previous?.until ?? firstPosition;
  const place = { position: seal.position, from: shown(from), until: seal.until.at };
  if (seal.position !== position) return { records: 0, removed: 0, problems: [missing(position)] };
  if (!isGenuine(key, previous?.seal ?? null, seal))
    return { records: 0, removed: 0, problems: [{ ...place, kind: 'seal_changed', expected: null, found: null }] };
  const range = { after: from, until: seal.until };
  const found = await digestRecords(em, range);
  if (found.content.equals(seal.content)) {
    const hidden = await countHiddenChanges(em, range, readActions);
    const problem = { ...place, kind: 'changes_hidden', expected: 0, found: hidden } as const;
    return { records: found.records - hidden, removed: 0, problems: hidden > 0 ? [problem] : [] };
  }
  if (found.records === 0 && (await isRemovedMonth(em, seal.until.at.slice(0, 7))))
    return { records: 0, removed: seal.records, problems: [] };
  const difference = { ...place, expected: seal.records, found: found.records };
  return { records: 0, removed: 0, problems: [{ ...difference, kind: kindOf(seal.records, found.records) }] };
}

function kindOf(expected: number, found: number): ChainProblem['kind'] {
  if (found === expected) return 'records_changed';
  return found < expected ? 'records_missing' : 'records_added';
}

async function compareKept(em: Em, { position, seal }: KeptSeal): Promise<ChainProblem[]> {
  const stored = await readSeal(em, position);
  if (!stored) return [missing(position)];
  if (stored.seal.toString('hex') === seal.toLowerCase()) return [];
  return [{ ...missing(position), kind: 'kept_seal_differs', until: stored.until.at }];
}

function missing(position: number): ChainProblem {
  return { kind: 'seal_missing', position, from: null, until: null, expected: null, found: null };
}

function shown(position: Position): string | null {
  return position === firstPosition ? null : position.at;
}
