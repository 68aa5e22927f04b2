import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findQuotaOwner } from '#domain/quotas/owner-store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { scopeNames } from '#domain/shared/vocabulary/quotas.ts';
import { findAssemblyRun, placeOfAssemblyRun } from './assembly-run-facts.ts';
import type { SubjectKind } from './model.ts';
import { inPlace } from './place-words.ts';
import { findRun, placeOfRun } from './run-facts.ts';

/** A path of a page. */
export type Path = `/${string}`;

interface KindOfSubject {
  /**
   * The access for reading the subject, as the operation that reads it declares it. Users without it are not notified of the subject, and
   * earlier notifications are hidden from them.
   */
  readonly access: Access;
  /** Its page. A test compares the paths with the list of pages. */
  readonly path: (id: string) => Path;
  /** Finds its name, such as "Webhook Chat". */
  readonly findName: (em: Em, id: string) => Promise<string | undefined>;
}

const ofTeam = { scope: 'team', teamAction: 'team.metadata.read', hidden: 'not_found', review: 'none' } as const;
const ofPlatform = { scope: 'platform', hidden: 'not_found', review: 'none' } as const;

/** The access, the page and the name of each kind of subject. */
export const kindsOfSubjects: Readonly<Record<SubjectKind, KindOfSubject>> = {
  run: {
    access: { ...ofTeam, anyOf: ['run:read'] },
    path: (id) => `/workloads/runs/${id}`,
    findName: async (em, id) => {
      const run = await findRun(em, id);
      return run && `Run of ${placeOfRun(run)}`;
    },
  },
  assembly_run: {
    access: {
      ...ofTeam,
      anyOf: ['assembly:read', 'workload:read'],
      missingPermission: 'hidden',
    },
    path: (id) => `/workloads/assembly-runs/${id}`,
    findName: async (em, id) => {
      const run = await findAssemblyRun(em, id);
      return run && `Run of the assembly ${placeOfAssemblyRun(run)}`;
    },
  },
  drift_monitor: {
    access: { ...ofTeam, anyOf: ['drift_monitor:read'], installation: 'hidden' },
    path: (id) => `/drift/monitors/${id}`,
    findName: findMonitorName,
  },
  drift_finding: {
    access: { ...ofTeam, anyOf: ['drift_monitor:read'], installation: 'hidden' },
    path: (id) => `/drift/findings/${id}`,
    findName: async (em, id) => {
      const query = db(em).selectFrom('drift_findings').where('id', '=', id).select('address');
      const finding = await query.executeTakeFirst();
      return finding && `Deviation of ${finding.address}`;
    },
  },
  webhook: {
    access: { ...ofTeam, scope: 'owned', anyOf: ['webhook:manage'], installation: 'hidden' },
    path: (id) => `/admin/webhooks/${id}`,
    findName: (em, id) => findNamed(em, 'webhooks', 'Webhook', id),
  },
  instance: {
    access: { ...ofTeam, anyOf: ['workload:read'] },
    path: (id) => `/workloads/instances/${id}`,
    findName: findInstanceName,
  },
  quota: {
    access: { ...ofPlatform, anyOf: ['quota:manage'] },
    path: () => '/admin/quotas',
    findName: async (em, id) => {
      const owner = await findQuotaOwner(em, id);
      return owner ? `Quota: ${scopeNames[owner.scope]} ${owner.name}` : undefined;
    },
  },
  api_key: {
    access: { ...ofPlatform, scope: 'self', anyOf: ['profile:manage'] },
    path: () => '/profile',
    findName: (em, id) => findNamed(em, 'api_keys', 'Key', id),
  },
};

async function findInstanceName(em: Em, id: string): Promise<string | undefined> {
  const instance = await db(em)
    .selectFrom('instances as i')
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .leftJoin('teams as t', 't.id', 'i.teamId')
    .where('i.id', '=', id)
    .select(['i.name', 't.name as team', 'p.name as project', 'e.name as environment'])
    .executeTakeFirst();
  return instance && `Instance ${inPlace(instance.name, instance)}`;
}

async function findMonitorName(em: Em, id: string): Promise<string | undefined> {
  const monitor = await db(em)
    .selectFrom('drift_monitors as m')
    .leftJoin('instances as i', 'i.id', 'm.instanceId')
    .leftJoin('templates as t', 't.id', 'm.templateId')
    .leftJoin('environments as e', (join) =>
      join.on((eb) => eb('e.id', '=', eb.fn.coalesce('m.environmentId', 'i.environmentId'))),
    )
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .leftJoin('teams as w', 'w.id', 'm.teamId')
    .where('m.id', '=', id)
    .select((eb) => eb.fn.coalesce('i.name', 't.name').as('name'))
    .select(['w.name as team', 'p.name as project', 'e.name as environment'])
    .executeTakeFirst();
  if (!monitor) return undefined;
  const { name, environment, ...place } = monitor;
  if (name !== null) return `Drift monitor of ${inPlace(name, { environment, ...place })}`;
  return `Drift monitor of ${inPlace(environment ?? 'everything', { environment: null, ...place })}`;
}

async function findNamed(
  em: Em,
  table: 'webhooks' | 'api_keys',
  noun: string,
  id: string,
): Promise<string | undefined> {
  const row = await db(em).selectFrom(table).where('id', '=', id).select('name').executeTakeFirst();
  return row && `${noun} ${row.name}`;
}
