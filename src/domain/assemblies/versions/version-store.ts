import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ChosenTemplate } from '../entity.ts';
import type { AssemblyNodeSpec } from '../spec/spec.ts';

/** A version as its readers see it. */
export type AssemblyVersionSummary = RowOf<typeof selectVersions>;

/** A page of the versions of an assembly, last published first. */
export function listAssemblyVersions(
  em: Em,
  assemblyId: string,
  request: PageRequest,
): Promise<Page<AssemblyVersionSummary>> {
  return pageOf(selectVersions(em).where('v.assemblyId', '=', assemblyId), 'v.id', request);
}

export interface AssemblyVersionDetails extends AssemblyVersionSummary {
  readonly spec: Record<string, JsonValue>;
  /** The draft's text at publication. */
  readonly source: string;
  /** The template version of each node, by the node's key. */
  readonly templates: Record<string, ChosenTemplate>;
}

/** One version with its spec, by the id of its row. */
export function readAssemblyVersion(em: Em, id: string): Promise<AssemblyVersionDetails | undefined> {
  return selectVersions(em).where('v.id', '=', id).select(['v.spec', 'v.source', 'v.templates']).executeTakeFirst();
}

/** The names of all versions of an assembly. */
export async function listAvailableVersions(
  em: Em,
  assemblyId: string,
): Promise<{ id: string; version: string; yanked: false }[]> {
  const rows = await db(em)
    .selectFrom('assembly_versions')
    .where('assemblyId', '=', assemblyId)
    .select(['id', 'version'])
    .execute();
  return rows.map((row) => ({ ...row, yanked: false }));
}

/** Who published some versions, and who was responsible for them then. */
export function readPublishers(
  em: Em,
  versionIds: readonly string[],
): Promise<{ id: string; person: string | null }[]> {
  return db(em)
    .selectFrom('assembly_versions as v')
    .where('v.id', '=', (eb) => eb.fn.any(eb.val(versionIds)))
    .select(['v.publishedBy as id', 'v.responsibleUserId as person'])
    .distinct()
    .execute();
}

/** A node of a version, with the approval that protects its instance. */
export interface VersionNode {
  readonly versionId: string;
  readonly key: string;
  readonly instance: string;
  readonly approval: AssemblyNodeSpec['approval'] | null;
}

/** The nodes of these versions that have one of the keys, or deploy one of the instances. */
export function findVersionNodes(
  em: Em,
  versionIds: readonly string[],
  { keys, instances }: { readonly keys: readonly string[]; readonly instances: readonly string[] },
): Promise<VersionNode[]> {
  const key = sql<string>`node.key`;
  const instance = sql<string>`coalesce(node.value ->> 'instance', node.key)`;
  return db(em)
    .selectFrom('assembly_versions as v')
    .crossJoinLateral((eb) => sql`jsonb_each(${eb.ref('v.spec')} -> 'nodes')`.as('node'))
    .where('v.id', 'in', versionIds)
    .where(sql<boolean>`(${key} = any(${[...keys]}) or ${instance} = any(${[...instances]}))`)
    .select(['v.id as versionId', key.as('key'), instance.as('instance')])
    .select(sql<VersionNode['approval']>`node.value -> 'approval'`.as('approval'))
    .execute();
}

function selectVersions(em: Em) {
  return db(em)
    .selectFrom('assembly_versions as v')
    .select(['v.id', 'v.assemblyId', 'v.version', 'v.digest', 'v.changelog', 'v.createdAt'])
    .select((eb) => {
      const name = eb.selectFrom('principals as p').whereRef('p.id', '=', 'v.publishedBy').select('p.name');
      return [
        sql<number>`(select count(*)::int from jsonb_object_keys(${eb.ref('v.templates')}))`.as('nodes'),
        sql<{ id: string; name: string }>`
          jsonb_build_object('id', ${eb.ref('v.publishedBy')}, 'name', coalesce(${name}, ''))`.as('publishedBy'),
      ];
    });
}
