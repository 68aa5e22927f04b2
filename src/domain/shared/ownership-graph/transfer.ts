import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import { refuseTransfer } from './blockers.ts';
import type { Declaration, Link } from './declaration.ts';
import { endOnTransfer } from './deletion.ts';
import { declarationOf, edgesTo, kindsBelow, ownerColumn } from './graph.ts';
import { underSlug } from './slugs.ts';
import { belowCondition, changeStatement, countersOf, linkCondition } from './sql.ts';

/**
 * Gives a thing to another owner of the same kind as now, with all that is below it: columns that copy the owner get the
 * new one, and what does not hold under another owner ends. What was granted under the former owner never revives. The
 * caller holds the thing's row and shares both owners'.
 * @throws Conflict naming what uses that of it which would change, or for a slug that is taken at the new owner
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
  const move = changeStatement(declarationOf(kind), `${ownerColumn(kind, to.kind)} = ?`);
  await underSlug(kind, slug, () => em.execute(move, [to.id, id]), 'other');
  await reviseContents(em, kind, id);
  await Promise.all(copies.map(({ statement }) => em.execute(statement, [to.id, id])));
  await endOnTransfer(em, kind, id);
}

interface Copy {
  readonly declaration: Declaration;
  /** Takes the new owner's id and the id of what is transferred. */
  readonly statement: string;
}

/** The columns below a kind that copy its owner. */
function copiesBelow(kind: Kind, owner: Kind): Copy[] {
  return kindsBelow(kind).flatMap((declaration) => {
    const links: readonly Link[] = [...(declaration.owners ?? []), ...(declaration.references ?? [])];
    return links.flatMap((link) => {
      const condition = link.kind === owner && link.follows && belowCondition(link.follows, kind);
      return condition ? [{ declaration, statement: copyStatement(declaration, link, condition) }] : [];
    });
  });
}

function copyStatement(declaration: Declaration, { columns, follows = '' }: Link, condition: string): string {
  const changes = [`${columns[0]} = ?`, ...countersOf(declaration)];
  const followed = ownerColumn(declaration.kind, follows);
  const { table } = declarationOf(follows);
  return `update ${declaration.table} y set ${changes.join(', ')}
           where y.${followed} in (select x.id from ${table} x where ${condition})`;
}

/** What it owns directly shows its owner as well, and so has changed. */
async function reviseContents(em: Em, kind: Kind, id: string): Promise<void> {
  const revised = edgesTo(kind).filter(({ link }) => link.onTransfer === 'revised');
  await Promise.all(
    revised.map(({ declaration, link }) =>
      em.execute(
        `update ${declaration.table} x set ${countersOf(declaration).join(', ')} where ${linkCondition(link)}`,
        [id],
      ),
    ),
  );
}
