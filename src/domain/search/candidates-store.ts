import { type AliasedExpression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isOfReadableOwner } from '#domain/owners/rows-store.ts';
import { pluginReading } from '#domain/plugins/authority.ts';
import { decidePermission, isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Permission } from '#domain/shared/access/permissions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { declaredTables } from '#domain/shared/ownership-graph/conditions.ts';

/** What a search by name looks at. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  /** Another text by which it is found, such as its slug. */
  readonly otherName: string | null;
  readonly context: string | null;
  /** The organization of a team, which is part of its address; null for other kinds. */
  readonly parentId: string | null;
}

/** What the principal may read of one kind, without what was deleted. */
export type Candidates = (em: Em, principal: Principal) => AliasedExpression<Candidate, 'x'>;

const nothing = sql<string | null>`null::text`;
const noId = sql<string | null>`null::uuid`;

/** Of each kind that is found by its name, in the order in which results are shown. */
export const candidatesByKind = {
  instance: (em, principal) =>
    db(em)
      .selectFrom('instances as i')
      .leftJoin('environments as e', 'e.id', 'i.environment_id')
      .where('i.deleted_at', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('i.team_id'), 'visible'))
      .select(['i.id', 'i.name', nothing.as('otherName'), 'e.name as context', noId.as('parentId')])
      .as('x'),
  environment: (em, principal) =>
    db(em)
      .selectFrom('environments as e')
      .innerJoin('projects as p', 'p.id', 'e.project_id')
      .where('e.deleted_at', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('p.team_id'), 'hidden'))
      .select(['e.id', 'e.name', 'e.slug as otherName', 'p.name as context', noId.as('parentId')])
      .as('x'),
  schedule: (em, principal) =>
    db(em)
      .selectFrom('schedules as s')
      .innerJoin('teams as t', 't.id', 's.team_id')
      .where('t.deleted_at', 'is', null)
      .where((eb) =>
        eb.and([mayRead(principal, 'environment:read'), isInReadableTeam(principal, eb.ref('s.team_id'), 'hidden')]),
      )
      .select(['s.id', 's.name', nothing.as('otherName'), 't.name as context', noId.as('parentId')])
      .as('x'),
  // A monitor has the name of what it watches, as on its page.
  drift_monitor: (em, principal) =>
    db(em)
      .selectFrom('drift_monitors as m')
      .leftJoin('instances as i', 'i.id', 'm.instance_id')
      .leftJoin('environments as e', 'e.id', 'm.environment_id')
      .leftJoin('templates as w', 'w.id', 'm.template_id')
      .where('m.deleted_at', 'is', null)
      .where((eb) =>
        eb.and([mayRead(principal, 'drift_monitor:read'), isInReadableTeam(principal, eb.ref('m.team_id'), 'hidden')]),
      )
      .select(({ ref }) => [
        'm.id',
        sql<string>`concat('Monitor of ', coalesce(${ref('i.name')}, ${ref('e.name')}, ${ref('w.name')}))`.as('name'),
        sql<string | null>`coalesce(${ref('i.name')}, ${ref('e.name')}, ${ref('w.name')})`.as('otherName'),
        sql<string | null>`case when ${ref('m.instance_id')} is not null then ${ref('e.name')} end`.as('context'),
        noId.as('parentId'),
      ])
      .as('x'),
  variable_set: (em, principal) => selectOwned(em, principal, { table: 'variable_sets', installation: 'visible' }),
  connection: (em, principal) =>
    selectOwned(em, principal, {
      table: 'connections',
      installation: 'visible',
      anyOf: ['connection:manage', 'connection:use', 'connection:test'],
    }),
  notification_channel: (em, principal) =>
    selectOwned(em, principal, {
      table: 'notification_channels',
      installation: 'administrators',
      anyOf: ['notification_channel:manage'],
    }),
  webhook: (em, principal) =>
    selectOwned(em, principal, { table: 'webhooks', installation: 'administrators', anyOf: ['webhook:manage'] }),
  plugin_installation: (em, principal) =>
    db(em)
      .selectFrom('plugin_installations as i')
      .leftJoin('teams as t', 't.id', 'i.team_id')
      .innerJoin('organizations as o', (join) =>
        join.on((eb) => eb('o.id', '=', eb.fn.coalesce('i.organization_id', 't.organization_id'))),
      )
      .where('i.deleted_at', 'is', null)
      .where('t.deleted_at', 'is', null)
      .where('o.deleted_at', 'is', null)
      .where((eb) => {
        const owner = { organization: eb.ref('i.organization_id'), team: eb.ref('i.team_id'), project: noId };
        return eb.and([eb.lit(mayReadPlugins(principal)), isOfReadableOwner(principal, owner, 'administrators')]);
      })
      .select((eb) => ['i.id', 'i.name', nothing.as('otherName'), eb.fn.coalesce('t.name', 'o.name').as('context')])
      .select(noId.as('parentId'))
      .as('x'),
  plugin_resource: (em, principal) =>
    db(em)
      .selectFrom('plugin_resources as r')
      .innerJoin('plugin_installations as i', 'i.id', 'r.installation_id')
      .innerJoin('teams as t', 't.id', 'r.team_id')
      .where('r.deleted_at', 'is', null)
      .where('t.deleted_at', 'is', null)
      .where((eb) =>
        eb.and([eb.lit(mayReadPlugins(principal)), isInReadableTeam(principal, eb.ref('r.team_id'), 'hidden')]),
      )
      .select(['r.id', 'r.name', 'r.key as otherName', 'i.name as context', noId.as('parentId')])
      .as('x'),
  assembly: (em, principal) =>
    db(em)
      .selectFrom('assemblies as a')
      .innerJoin('teams as t', 't.id', 'a.team_id')
      .where('a.deleted_at', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('a.team_id'), 'hidden'))
      .select(['a.id', 'a.name', 'a.slug as otherName', 't.name as context', noId.as('parentId')])
      .as('x'),
  template: (em, principal) =>
    db(em)
      .selectFrom('templates as m')
      .leftJoin('teams as t', 't.id', 'm.team_id')
      .where('m.deleted_at', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('m.team_id'), 'visible'))
      .select(['m.id', 'm.name', 'm.slug as otherName', 't.name as context', noId.as('parentId')])
      .as('x'),
  project: (em, principal) =>
    db(em)
      .selectFrom('projects as p')
      .innerJoin('teams as t', 't.id', 'p.team_id')
      .where('p.deleted_at', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('p.team_id'), 'hidden'))
      .select(['p.id', 'p.name', 'p.slug as otherName', 't.name as context', noId.as('parentId')])
      .as('x'),
  team: (em, principal) =>
    db(em)
      .selectFrom('teams as t')
      .innerJoin('organizations as o', 'o.id', 't.organization_id')
      .where('t.deleted_at', 'is', null)
      .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'))
      .select(['t.id', 't.name', 't.slug as otherName', 'o.name as context', 't.organization_id as parentId'])
      .as('x'),
  organization: (em, principal) =>
    db(em)
      .selectFrom('organizations as o')
      .where('o.deleted_at', 'is', null)
      .where((eb) =>
        isPlatformAdministrator(principal)
          ? eb.lit(true)
          : eb('o.id', '=', eb.fn.any(eb.val(Object.keys(principal.organizations)))),
      )
      .select(['o.id', 'o.name', 'o.slug as otherName', nothing.as('context'), noId.as('parentId')])
      .as('x'),
} as const satisfies Record<string, Candidates>;

export type NamedKind = keyof typeof candidatesByKind;
export const namedKinds = Object.keys(candidatesByKind) as readonly NamedKind[];

function mayRead(principal: Principal, permission: Permission) {
  return sql.lit(decidePermission(principal, { anyOf: [permission] }).allowed);
}

function mayReadPlugins(principal: Principal): boolean {
  return decidePermission(principal, pluginReading).allowed;
}

interface OwnedKind {
  readonly table: 'variable_sets' | 'connections' | 'webhooks' | 'notification_channels';
  /** Who finds what belongs to the whole installation. */
  readonly installation: 'visible' | 'administrators';
  /** The permissions of which reading one needs any, if not everybody who may search has them. */
  readonly anyOf?: readonly Permission[];
}

/** What belongs to the installation, an organization, a team or a project, with the name of that owner. What a deleted owner has is left out. */
function selectOwned(em: Em, principal: Principal, { table, installation, anyOf }: OwnedKind) {
  const mayRead = anyOf === undefined || decidePermission(principal, { anyOf }).allowed;
  return declaredTables(em)
    .selectFrom(`${table} as s`)
    .leftJoin('projects as p', 'p.id', 's.project_id')
    .leftJoin('teams as t', 't.id', 's.team_id')
    .leftJoin('organizations as o', 'o.id', 's.organization_id')
    .where((eb) => {
      const owner = {
        organization: eb.ref('s.organization_id'),
        team: eb.ref('s.team_id'),
        project: eb.ref('s.project_id'),
      };
      return eb.and([eb.lit(mayRead), isOfReadableOwner(principal, owner, installation)]);
    })
    .where('p.deleted_at', 'is', null)
    .where('t.deleted_at', 'is', null)
    .where('o.deleted_at', 'is', null)
    .select((eb) => [
      's.id',
      's.name',
      nothing.as('otherName'),
      eb.fn.coalesce('p.name', 't.name', 'o.name').as('context'),
      noId.as('parentId'),
    ])
    .$castTo<Candidate>()
    .as('x');
}
