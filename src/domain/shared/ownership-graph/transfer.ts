import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { Kind } from '#domain/ownership.ts';
import { refuseTransfer } from './blockers.ts';
import { belowCondition, changeOne, countersOf, linkCondition } from './conditions.ts';
import type { AnyDeclaration, AnyLink } from './declaration.ts';
import { endOnTransfer } from './deletion.ts';
import { declarationOf, edgesTo, kindsBelow, ownerColumn, pathTo } from './graph.ts';
import { reportingSlugConflict } from './slugs.ts';

/**
 * Gives a thing, with everything below it, to another owner of the same kind. Columns that copy the owner get the new one, and rows that
 * may not continue under another owner end. The transfer voids all earlier grants. The caller has locked the row of the thing, and holds
 * share locks on those of both owners.
 * @throws Conflict naming the uses of rows that would change, or for a slug that is taken at the new owner
 */
export async function transferOwned(
  em: Em,
  kind: Kind,
  { id, slug }: { readonly id: string; readonly slug: string },
  to: { readonly kind: Kind; readonly id: string },
): Promise<void> {
  const copies = copiesBelow(kind, to.kind);
  await refuseTransfer(
    em,
    kind,
    id,
    copies.map(({ declaration }) => declaration),
  );
  const moved = { [ownerColumn(kind, to.kind)]: to.id };
  await reportingSlugConflict(kind, slug, () => changeOne(em, declarationOf(kind), id, moved), 'other');
  await reviseContents(em, kind, id);
  await Promise.all(copies.map((copy) => changeCopy(em, copy, kind, id, to.id)));
  await endOnTransfer(em, kind, id);
}

/** A column below a kind that copies its owner. */
interface Copy {
  readonly declaration: AnyDeclaration;
  readonly column: string;
  /** The kind of the owner by which the row is below the transferred thing. */
  readonly follows: string;
}

function copiesBelow(kind: Kind, owner: Kind): Copy[] {
  return kindsBelow(kind).flatMap((declaration) => {
    const links: readonly AnyLink[] = [...(declaration.owners ?? []), ...(declaration.references ?? [])];
    return links.flatMap(({ kind: named, follows, columns: [column] }) =>
      named === owner && column && follows && pathTo(follows, kind) ? [{ declaration, column, follows }] : [],
    );
  });
}

/** Writes the new owner's id into the copies below the thing. */
async function changeCopy(em: Em, { declaration, column, follows }: Copy, kind: Kind, id: string, to: string) {
  const followed = declaredTables(em)
    .selectFrom(`${declarationOf(follows).table} as x`)
    .where((eb) => belowCondition(follows, kind, id) ?? eb.lit(false))
    .select('x.id');
  await declaredTables(em)
    .updateTable(`${declaration.table} as y`)
    .set({ [column]: to, ...countersOf(declaration) })
    .where(`y.${ownerColumn(declaration.kind, follows)}`, 'in', followed)
    .execute();
}

/** Raises the revisions of the things that it owns directly: they show its owner as well, so the transfer changes them. */
async function reviseContents(em: Em, kind: Kind, id: string): Promise<void> {
  const revised = edgesTo(kind).filter(({ link }) => link.onTransfer === 'revised');
  await Promise.all(
    revised.map(({ declaration, link }) =>
      declaredTables(em)
        .updateTable(`${declaration.table} as x`)
        .set(countersOf(declaration))
        .where(linkCondition(link, id))
        .execute(),
    ),
  );
}
