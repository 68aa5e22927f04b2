import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { declaredTables } from '#domain/db.ts';
import type { Kind } from '#domain/ownership.ts';
import { Conflict } from '../errors.ts';
import { clock } from './conditions.ts';
import type { AnyDeclaration, Slug } from './declaration.ts';
import { declarationOf, ownerColumn } from './graph.ts';

/**
 * Runs a write that sets a slug, and reports the conflict if a constraint of the database finds the slug taken. `owner` says whether the
 * thing stays with its owner or goes to another one.
 * @throws Conflict naming the slug if something else there has it
 */
export async function reportingSlugConflict<T>(
  kind: Kind,
  slug: string,
  write: () => Promise<T>,
  owner: 'this' | 'other' = 'this',
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (brokenConstraint(error) === slugOf(kind).constraint) throw slugTaken(kind, slug, owner);
    throw error;
  }
}

/**
 * Claims a slug for a thing of a kind that keeps its earlier slugs. Old links still work, and no other thing can take the earlier slugs.
 * @throws Conflict if another one has or had the slug
 */
export async function claimSlug(em: Em, kind: Kind, id: string, slug: string): Promise<void> {
  const { table, column } = historyOf(kind);
  // The update changes nothing: it locks and returns the row of the thing that has the slug.
  const { holder } = await declaredTables(em)
    .insertInto(table)
    .values({ slug, [column]: id, createdAt: clock })
    .onConflict((conflict) => conflict.column('slug').doUpdateSet({ slug: sql`excluded.slug` }))
    .returning(`${column} as holder`)
    .executeTakeFirstOrThrow();
  if (holder !== id) throw slugTaken(kind, slug, 'this');
}

function historyOf(kind: Kind): { table: string; column: string } {
  const { history } = slugOf(kind);
  if (history === undefined) throw new Error(`the kind "${kind}" declares no history of its slugs`);
  return { table: declarationOf(history).table, column: ownerColumn(history, kind) };
}

function slugOf(kind: Kind): Slug {
  const { slug } = declarationOf(kind);
  if (!slug) throw new Error(`the kind "${kind}" declares no slug`);
  return slug;
}

function slugTaken(kind: Kind, slug: string, owner: 'this' | 'other'): Conflict {
  const { taken } = slugOf(kind);
  if (taken !== undefined) return new Conflict(taken.replace('{slug}', slug), 'slug_taken');
  return new Conflict(
    `slug: "${slug}" is taken in ${placeOf(declarationOf(kind), owner)}: choose another`,
    'slug_taken',
  );
}

function placeOf({ owners = [] }: AnyDeclaration, owner: 'this' | 'other'): string {
  const kind = owners[0]?.kind ?? 'installation';
  return owner === 'this' ? `this ${kind}` : `the other ${kind}`;
}
