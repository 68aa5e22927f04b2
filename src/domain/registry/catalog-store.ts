import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db, type Over } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { inIndexGroup, orderOfGroup } from '#domain/shared/paging/index-range.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { Template } from './entity.ts';
import type { ExecutorKind } from './spec.ts';
import { type AvailableVersion, findLatest } from './versions.ts';

/** A template as lists show it to its readers. */
export interface TemplateDetails {
  readonly id: string;
  readonly teamId: string | null;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Null if no version is published. */
  readonly latestVersion: string | null;
  /** How the latest version is executed. */
  readonly executor: ExecutorKind | null;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

interface TemplateFilter {
  readonly teamId: string | undefined;
  readonly organizationId: string | undefined;
  /** Whether to include the templates of the whole installation, besides those of the team or organization. */
  readonly withInstallation: boolean;
  /** The template must have all of them. */
  readonly tags: readonly string[];
  /** A text in the name, the slug or the description, ignoring case. */
  readonly search: string | undefined;
  /** Archived templates instead of active ones. */
  readonly archived: boolean;
}

/** A page of the templates that a principal may read: those of its teams, and those of the whole installation. */
export async function listTemplates(
  em: Em,
  principal: Principal,
  filter: TemplateFilter,
  request: PageRequest,
): Promise<Page<TemplateDetails>> {
  const { tags, search, archived } = filter;
  const templates = selectTemplates(em)
    .where('t.archivedAt', archived ? 'is not' : 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.teamId'), 'visible'))
    .where((eb) => isOwnedBy(eb, filter))
    .$if(tags.length > 0, (query) => query.where('t.tags', '@>', sql<string[]>`${json(tags)}::jsonb`))
    .$if(search !== undefined, (query) => query.where((eb) => mentions(eb, search ?? '')));
  const { items, nextCursor } = await pageOf(templates, 't.id', request);
  return { items: await withLatest(em, items), nextCursor };
}

/** One template with its readme; the caller has decided that it may be read. */
export async function readTemplate(
  em: Em,
  id: string,
): Promise<(TemplateDetails & { readonly readme: string }) | undefined> {
  const [template] = await withLatest(
    em,
    await selectTemplates(em).where('t.id', '=', id).select('t.readme').execute(),
  );
  return template;
}

/** Loads the readme of a template, which is long and rarely needed. */
export async function loadReadme(em: Em, template: Template): Promise<void> {
  await em.populate(template, ['readme']);
}

function isOwnedBy(eb: Over<{ t: 'templates' }>, { teamId, organizationId, withInstallation }: TemplateFilter) {
  if (teamId === undefined && organizationId === undefined) return eb.lit(true);
  const owned =
    teamId === undefined
      ? eb('t.teamId', 'in', (of) =>
          of
            .selectFrom('teams as m')
            .where('m.organizationId', '=', organizationId ?? null)
            .select('m.id'),
        )
      : eb('t.teamId', '=', teamId);
  return withInstallation ? eb.or([owned, eb('t.teamId', 'is', null)]) : owned;
}

function mentions(eb: Over<{ t: 'templates' }>, text: string) {
  const fields = sql`${eb.ref('t.name')} || ' ' || ${eb.ref('t.slug')} || ' ' || ${eb.ref('t.description')}`;
  return sql<boolean>`position(${text.toLowerCase()} in lower(${fields})) > 0`;
}

function selectTemplates(em: Em) {
  return db(em)
    .selectFrom('templates as t')
    .where('t.deletedAt', 'is', null)
    .select(['t.id', 't.teamId', 't.name', 't.slug', 't.description', 't.tags', 't.revision'])
    .select(['t.createdAt', 't.archivedAt'])
    .select((eb) => collectVersions(eb).$asScalar().$notNull().as('versions'));
}

function collectVersions(eb: Over<{ t: 'templates' }>) {
  return eb
    .selectFrom('template_versions as v')
    .whereRef('v.templateId', '=', 't.id')
    .select((of) => {
      const version = sql`jsonb_build_object('id', ${of.ref('v.id')}, 'version', ${of.ref('v.version')}, 'yanked', ${of('v.yankedAt', 'is not', null)})`;
      return sql<IdentifiedVersion[]>`coalesce(jsonb_agg(${version}), '[]')`.as('versions');
    });
}

type IdentifiedVersion = AvailableVersion & { readonly id: string };

/** Adds the latest versions and their executors. */
async function withLatest<Row extends { versions: IdentifiedVersion[] }>(em: Em, rows: readonly Row[]) {
  const found = rows.map(({ versions, ...row }) => ({ row, latest: findLatest(versions) }));
  const ids = found.flatMap(({ latest }) => latest?.id ?? []);
  const executors = new Map(ids.length > 0 ? await readExecutors(em, ids) : []);
  return found.map(({ row, latest }) => ({
    ...row,
    latestVersion: latest?.version ?? null,
    executor: executors.get(latest?.id ?? '') ?? null,
  }));
}

async function readExecutors(em: Em, ids: readonly string[]): Promise<[string, ExecutorKind][]> {
  const rows = await db(em)
    .selectFrom('template_versions as v')
    .where('v.id', 'in', ids)
    .select((eb) => ['v.id', sql<ExecutorKind>`${eb.ref('v.spec')} #>> '{executor,kind}'`.as('executor')])
    .execute();
  return rows.map(({ id, executor }) => [id, executor]);
}

/** The newest run of a template that somebody may read. */
export interface LastRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly statusReason: string | null;
  readonly waitingOn: WaitingOn | null;
  readonly createdAt: string;
}

/** How many of the newest runs of a template are searched, since other tenants may have used it a million times. */
const searched = 200;

const runsOfTemplate = { columns: ['r.templateId'], values: [sql.ref('t.id')], id: 'r.id' };

/** The newest run of each template that the principal may read, by the template's id. */
export async function readLastRuns(
  em: Em,
  principal: Principal,
  templateIds: readonly string[],
): Promise<ReadonlyMap<string, LastRun>> {
  if (templateIds.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('templates as t')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom(
            eb
              .selectFrom('runs as r')
              .where(inIndexGroup(runsOfTemplate))
              .where('r.deletedAt', 'is', null)
              .where('r.operation', '<>', sql.lit('scan' as const))
              .select(['r.id', 'r.status', 'r.statusReason', 'r.waitingOn', 'r.createdAt', 'r.teamId'])
              .orderBy(orderOfGroup(runsOfTemplate))
              .limit(searched)
              .as('newest'),
          )
          .where((of) => isInReadableTeam(principal, of.ref('newest.teamId'), 'visible'))
          .select(['newest.id', 'newest.status', 'newest.statusReason', 'newest.waitingOn', 'newest.createdAt'])
          .orderBy('newest.id', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .where('t.id', 'in', templateIds)
    .select(['t.id as templateId', 'last.id', 'last.status', 'last.statusReason', 'last.waitingOn', 'last.createdAt'])
    .execute();
  return new Map(rows.map(({ templateId, ...run }) => [templateId, run as LastRun]));
}
