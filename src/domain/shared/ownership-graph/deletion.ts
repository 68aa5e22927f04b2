import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import { refuseDeletion } from './blockers.ts';
import type { Cascade } from './declaration.ts';
import { baseOf, declarationOf, depthOf, type Edge, edgesTo } from './graph.ts';
import { cascadeStatement, changeStatement, linkCondition } from './sql.ts';

/** How many rows of each kind went with something. */
export type EndedRows = Partial<Record<Kind, number>>;

/**
 * Deletes what is empty and not in use. A tombstone stays: its name is free again, and history keeps the id. The caller
 * holds the row to change it, so that nothing is made and nothing starts in it meanwhile. Answers its last revision.
 * @throws Conflict naming everything that stands in the way
 */
export async function deleteOwned(em: Em, kind: Kind, { id }: { readonly id: string }): Promise<number> {
  await refuseDeletion(em, kind, id);
  await endBelongings(em, kind, id);
  return leaveTombstone(em, kind, id);
}

/** Ends what goes with something that is deleted: names, authority and secrets. */
export function endBelongings(em: Em, kind: Kind, id: string): Promise<EndedRows> {
  return endAll(em, kind, id, ({ link }) => link.cascade);
}

/** Ends what goes when something gets another owner. */
export function endOnTransfer(em: Em, kind: Kind, id: string): Promise<EndedRows> {
  return endAll(em, kind, id, ({ link: { onTransfer } }) => (onTransfer === 'revised' ? undefined : onTransfer));
}

/** Sent together, carried out one after the other. */
async function endAll(
  em: Em,
  kind: Kind,
  id: string,
  cascadeOf: (edge: Edge) => Cascade | undefined,
): Promise<EndedRows> {
  const counts = await Promise.all(
    edgesTo(kind).flatMap((edge) => {
      const cascade = cascadeOf(edge);
      if (!cascade) return [];
      const { declaration, link } = edge;
      const rows = em.execute<unknown[]>(cascadeStatement(declaration, cascade, linkCondition(link)), [id]);
      return [rows.then(({ length }): [string, number] => [declaration.kind, length])];
    }),
  );
  return Object.fromEntries(counts);
}

/** Counts that something has another owner from now on, under which nothing granted before holds. */
export async function countChange(em: Em, kind: Kind, id: string): Promise<void> {
  await em.execute(changeStatement(baseOf(kind)), [id]);
}

/** Leaves the tombstone of something; answers its last revision. */
export async function leaveTombstone(em: Em, kind: Kind, id: string): Promise<number> {
  const base = baseOf(kind);
  if (!base.tombstone) throw new Error(`the kind "${kind}" does not declare that its deletion leaves a tombstone`);
  const ends = ['deleted_at = clock_timestamp()', ...(base.disableable ? ['enabled = false'] : [])];
  const [row] = await em.execute<[{ revision: number }]>(changeStatement(base, ...ends), [id]);
  return row.revision;
}

/**
 * Locks what a principal may be the only owner of, and the owners of that, outermost first: nobody else leaves it, or is
 * made less than its owner, until it is decided who owns it.
 */
export async function lockShared(em: Em, kind: Kind, id: string): Promise<void> {
  const shared = edgesTo(kind).filter(({ link }) => link.blocker?.unlessShared);
  const kinds = new Set(shared.flatMap(({ link }) => link.blocker?.names ?? []));
  for (const owner of [...kinds].sort((one, other) => depthOf(one) - depthOf(other))) {
    const ids = shared.flatMap((edge) => idsOf(edge, owner));
    await em.execute(
      `select 1 from ${declarationOf(owner).table} where id in (${ids.join(' union ')}) order by id for no key update`,
      ids.map(() => id),
    );
  }
}

/** Selects the ids of the owners of one kind that rows with this link have, directly or by an owner in between. */
function idsOf({ declaration, link }: Edge, owner: string): string[] {
  const names = link.blocker?.names ?? [];
  if (!names.includes(owner)) return [];
  const inwards = [...names.slice(names.indexOf(owner) + 1), declaration.kind].toReversed();
  let select = '';
  for (const [index, kind] of inwards.entries()) {
    const above = inwards[index + 1] ?? owner;
    const column = declarationOf(kind).owners?.find((each) => each.kind === above)?.columns[0];
    const condition = index === 0 ? linkCondition(link) : `x.id in (${select})`;
    select = `select x.${column} from ${declarationOf(kind).table} x where ${condition}`;
  }
  return [select];
}
