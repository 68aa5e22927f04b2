import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import { Conflict } from '../errors.ts';
import type { Blocker, Declaration, Use } from './declaration.ts';
import { declarationOf, edgesTo, kindsBelow, ownerColumn } from './graph.ts';
import { enumerate, findNames } from './names.ts';
import { about, belowCondition, linkCondition, namedBy } from './sql.ts';

/** How a conflict reads: `<subject> has projects: …; delete them first<joint>has templates: …`. */
export interface Wording {
  readonly subject?: string;
  readonly joint?: string;
  /** Whether it says the names of what blocks, which are for those who may read all of that. */
  readonly showsNames?: boolean;
}

/** @throws Conflict naming the instances that still hold resources and the runs that have not ended */
export function refuseArchiving(em: Em, kind: Kind, id: string): Promise<void> {
  return refuse(em, kind, id, usesThatPrevent('archiving', kind));
}

/** @throws Conflict naming all that uses it, and all that would be left without an owner or an author */
export function refuseDeletion(em: Em, kind: Kind, id: string, wording: Wording = {}): Promise<void> {
  return refuse(em, kind, id, [...usesThatPrevent('deletion', kind), ...blockersOf(kind)], wording);
}

/** @throws Conflict naming what uses those kinds whose columns the transfer of a thing changes */
export function refuseTransfer(em: Em, kind: Kind, id: string, moved: readonly Declaration[]): Promise<void> {
  return refuse(
    em,
    kind,
    id,
    usesThatPrevent('transfer', kind).filter(({ declaration }) => moved.includes(declaration)),
  );
}

/** A blocker of one thing, and the rows that may be it by a condition on `x` with the thing's id. */
interface Candidate {
  readonly declaration: Declaration;
  readonly blocker: Blocker | Use;
  readonly condition: string;
}

function usesThatPrevent(change: Use['prevents'][number], kind: Kind): Candidate[] {
  const candidates = kindsBelow(kind).flatMap((declaration) => {
    const condition = belowCondition(declaration.kind, kind) ?? 'false';
    const uses = (declaration.uses ?? []).filter(({ prevents }) => prevents.includes(change));
    return uses.map((blocker) => ({ declaration, blocker, condition }));
  });
  // What is said of everything comes before what is said of some.
  return candidates.sort((one, other) => Number('tiedTo' in one.blocker) - Number('tiedTo' in other.blocker));
}

/** What it owns comes first, then what it must share, then what names it otherwise. */
function blockersOf(kind: Kind): Candidate[] {
  const found = edgesTo(kind).flatMap(({ declaration, link, isOwner }) => {
    const { blocker } = link;
    if (!blocker || (blocker.onlyOf !== undefined && blocker.onlyOf !== kind)) return [];
    const rank = isOwner ? 0 : blocker.unlessShared ? 1 : 2;
    return [{ rank, declaration, blocker, condition: linkCondition(link) }];
  });
  return found.sort((one, other) => one.rank - other.rank);
}

/** Everything that blocks is said at once. */
async function refuse(
  em: Em,
  kind: Kind,
  id: string,
  candidates: readonly Candidate[],
  { subject = `the ${kind}`, joint = '; it ', showsNames = true }: Wording = {},
): Promise<void> {
  const found = await Promise.all(
    candidates.map(async (candidate) => {
      const names = await findNames(em, blockingNames(candidate), [id]);
      const { says, remedy } = candidate.blocker;
      return names.length > 0 ? [`${says}${showsNames ? `: ${enumerate(names)}` : ''}; ${remedy}`] : [];
    }),
  );
  const reasons = found.flat();
  if (reasons.length > 0) throw new Conflict(`${subject} ${reasons.join(joint)}`);
}

/** Selects what each row that blocks is called, as `name`; the parameter is the id of what it blocks. */
function blockingNames({ declaration, blocker, condition }: Candidate): string {
  const { kind, table } = declaration;
  const { names = [kind], separator = '/', counts = 'present' } = blocker;
  const named = namedBy(declaration, names, separator, counts);
  const tie = 'tiedTo' in blocker && blocker.tiedTo ? tieOf(kind, blocker.tiedTo) : undefined;
  const conditions = [
    condition,
    ...(blocker.while ? [blocker.while] : []),
    ...named.conditions,
    ...(blocker.unlessShared ? [unsharedCondition(declaration, blocker)] : []),
  ];
  // Rows that the conflict calls by the same owner are one; what orders them is selected with them then.
  const isDistinct = !names.includes(kind);
  const keys = isDistinct ? named.key.map((column, index) => `, ${column} as key_${index}`).join('') : '';
  return `select ${isDistinct ? 'distinct ' : ''}${named.label}${tie?.label ?? ''} as name${keys}
            from ${table} x${named.joins}${tie?.join ?? ''}
           where ${conditions.join(' and ')} order by ${named.key.join(', ')}`;
}

/** Joins what a row refers to where both have the same owner. */
function tieOf(kind: string, { kind: other, sharing }: NonNullable<Use['tiedTo']>): { label: string; join: string } {
  const { table, label = 'x.id::text' } = declarationOf(other);
  const column = declarationOf(kind).references?.find((link) => link.kind === other)?.columns[0];
  const same = `tied.${ownerColumn(other, sharing)} = x.${ownerColumn(kind, sharing)}`;
  return {
    label: ` || ' (${other} ' || ${about('tied', label)} || ')'`,
    join: ` join ${table} tied on tied.id = x.${column} and ${same}`,
  };
}

/** No other principal who is able to own has such a row of the same owner. */
function unsharedCondition({ kind, table, owners = [] }: Declaration, blocker: Blocker): string {
  const principal = declarationOf('principal');
  const column = declarationOf(kind).references?.find((link) => link.blocker === blocker)?.columns[0];
  const sameOwner = owners.map(({ columns: [owner] }) => `other.${owner} = x.${owner}`);
  const conditions = [
    ...sameOwner,
    ...(blocker.while ? [about('other', blocker.while)] : []),
    `other.${column} <> x.${column}`,
    about('able', principal.ableToOwn ?? 'true'),
  ];
  return `not exists (select 1 from ${table} other join ${principal.table} able on able.id = other.${column}
                       where ${conditions.join(' and ')})`;
}
