import {
  type AliasableExpression,
  type Expression,
  expressionBuilder,
  type Kysely,
  type SelectQueryBuilder,
} from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { lockRows } from '#database/row-lock.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { EnvironmentKind, PlanSecretsDemand } from '#domain/environments/model.ts';
import { keepSettings, storedSettings } from '#domain/settings/store.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import type { RunOptionName } from '#domain/shared/vocabulary/run-options.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { selectPolicy } from '../approval/policy-store.ts';
import type { OverRun } from '../details-store.ts';

/** A target as it is read. Owners that it does not have are missing: a template may belong to no team. */
export interface TargetRow {
  readonly templateId: string;
  readonly templateSlug: string;
  readonly templateTeamId: string | null;
  readonly templateArchived: boolean;
  readonly organizationId?: string;
  readonly organizationArchived?: boolean;
  readonly teamId?: string;
  readonly teamArchived?: boolean;
  readonly projectId?: string;
  readonly projectArchived?: boolean;
  readonly environmentId?: string;
  readonly environmentArchived?: boolean;
  readonly approval?: ApprovalPolicy;
  readonly environmentKind?: EnvironmentKind;
  readonly environmentOptions?: RunOptionName[] | null;
  readonly planSecrets?: PlanSecretsDemand | null;
  readonly tool?: WantedTool | null;
}

/** The id of a row, or a column that holds it. */
type IdOf = string | Expression<string>;

/** What can start a query: a connection, or an outer query for a subquery. */
type Selecting = Pick<Kysely<Tables>, 'selectFrom'>;

function selectTemplate(eb: Over<{ t: 'templates' }>) {
  return [
    't.id as templateId',
    't.slug as templateSlug',
    't.teamId as templateTeamId',
    eb('t.archivedAt', 'is not', null).$castTo<boolean>().as('templateArchived'),
  ] as const;
}

function selectTeam(eb: Over<{ o: 'organizations'; m: 'teams' }>) {
  return [
    'o.id as organizationId',
    eb('o.archivedAt', 'is not', null).$castTo<boolean>().as('organizationArchived'),
    'm.id as teamId',
    eb('m.archivedAt', 'is not', null).$castTo<boolean>().as('teamArchived'),
  ] as const;
}

function selectEnvironment(eb: Over<{ p: 'projects'; e: 'environments' }>) {
  return [
    'p.id as projectId',
    eb('p.archivedAt', 'is not', null).$castTo<boolean>().as('projectArchived'),
    'e.id as environmentId',
    eb('e.archivedAt', 'is not', null).$castTo<boolean>().as('environmentArchived'),
    selectPolicy('e').as('approval'),
    'e.kind as environmentKind',
    'e.allowedOptions as environmentOptions',
    'e.planSecrets',
    'e.tool',
  ] as const;
}

function inEnvironment(from: Selecting, templateId: IdOf, environmentId: IdOf) {
  return from
    .selectFrom('organizations as o')
    .innerJoin('teams as m', 'm.organizationId', 'o.id')
    .innerJoin('projects as p', 'p.teamId', 'm.id')
    .innerJoin('environments as e', 'e.projectId', 'p.id')
    .crossJoin('templates as t')
    .where('t.id', '=', templateId)
    .where('e.id', '=', environmentId)
    .where('t.deletedAt', 'is', null)
    .where('e.deletedAt', 'is', null)
    .where('p.deletedAt', 'is', null)
    .where('m.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .select(selectTemplate)
    .select(selectTeam)
    .select(selectEnvironment);
}

function ofTeam(from: Selecting, templateId: IdOf) {
  return from
    .selectFrom('organizations as o')
    .innerJoin('teams as m', 'm.organizationId', 'o.id')
    .innerJoin('templates as t', 't.teamId', 'm.id')
    .where('t.id', '=', templateId)
    .where('t.deletedAt', 'is', null)
    .where('m.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .select(selectTemplate)
    .select(selectTeam);
}

function ofInstallation(from: Selecting, templateId: IdOf) {
  return from
    .selectFrom('templates as t')
    .where('t.id', '=', templateId)
    .where('t.teamId', 'is', null)
    .where('t.deletedAt', 'is', null)
    .select(selectTemplate);
}

type Template = { templateId: string };
type TemplateAndEnvironment = Template & { environmentId: string };

/** A transaction that locks a target decides by the settings, too. */
function withSettings<Db, From extends keyof Db, Row>(query: SelectQueryBuilder<Db, From, Row>) {
  return query.select(storedSettings().as('settings' as never)) as unknown as SelectQueryBuilder<
    Db,
    From,
    Row & WithSettings
  >;
}

interface WithSettings {
  readonly settings: Parameters<typeof keepSettings>[1];
}

/**
 * Each lookup in two forms: without locks, and with share locks until the commit. Locks are taken from the outermost owner to the template.
 */
const lookups = {
  inEnvironment: {
    plain: prepare((db, parameter: ParameterOf<TemplateAndEnvironment>) =>
      inEnvironment(db, parameter('templateId'), parameter('environmentId')),
    ),
    locking: prepare((db, parameter: ParameterOf<TemplateAndEnvironment>) =>
      withSettings(
        lockRows(
          inEnvironment(db, parameter('templateId'), parameter('environmentId')),
          ['o', 'm', 'p', 'e', 't'],
          true,
        ),
      ),
    ),
  },
  ofTeam: {
    plain: prepare((db, parameter: ParameterOf<Template>) => ofTeam(db, parameter('templateId'))),
    locking: prepare((db, parameter: ParameterOf<Template>) =>
      withSettings(lockRows(ofTeam(db, parameter('templateId')), ['o', 'm', 't'], true)),
    ),
  },
  ofInstallation: {
    plain: prepare((db, parameter: ParameterOf<Template>) => ofInstallation(db, parameter('templateId'))),
    locking: prepare((db, parameter: ParameterOf<Template>) =>
      withSettings(lockRows(ofInstallation(db, parameter('templateId')), ['t'], true)),
    ),
  },
};

export function findTargetInEnvironment(
  em: Em,
  ids: TemplateAndEnvironment,
  lock: boolean,
): Promise<TargetRow | undefined> {
  const { plain, locking } = lookups.inEnvironment;
  return lock ? findLocked(em, () => locking(em, ids)) : findFirst(plain(em, ids));
}

/** A template without an environment belongs to its own team, or to the installation. */
export async function findTargetOfTemplate(em: Em, templateId: string, lock: boolean): Promise<TargetRow | undefined> {
  // The team of a template never changes, so it may be read before anything is locked.
  const template = await db(em)
    .selectFrom('templates')
    .where('id', '=', templateId)
    .select('teamId')
    .executeTakeFirst();
  const { plain, locking } = template?.teamId ? lookups.ofTeam : lookups.ofInstallation;
  return lock ? findLocked(em, () => locking(em, { templateId })) : findFirst(plain(em, { templateId }));
}

async function findFirst<Row>(reading: Promise<Row[]>): Promise<Row | undefined> {
  const [row] = await reading;
  return row;
}

/**
 * Looks a second time if the first lookup finds nothing: a row that was transferred while the lookup waited for its lock is
 * found only under its new owner.
 */
async function findLocked<Row extends WithSettings>(
  em: Em,
  look: () => Promise<Row[]>,
): Promise<Omit<Row, 'settings'> | undefined> {
  const found = (await findFirst(look())) ?? (await findFirst(look()));
  if (!found) return undefined;
  const { settings, ...row } = found;
  keepSettings(em, settings);
  return row;
}

/**
 * The target that a requeue of a run would have now, for `toTarget`: the rows that `findAdmissionTarget` finds for its
 * template and environment, or null.
 */
export function selectTargetOf(eb: OverRun): AliasableExpression<TargetRow | null> {
  const within = expressionBuilder<Tables>();
  const templateId = eb.ref('runs.templateId');
  return eb
    .case()
    .when('runs.environmentId', 'is not', null)
    .then(jsonObjectFrom(inEnvironment(within, templateId, eb.ref('runs.environmentId').$notNull())))
    .else(
      eb.fn.coalesce(jsonObjectFrom(ofTeam(within, templateId)), jsonObjectFrom(ofInstallation(within, templateId))),
    )
    .end();
}
