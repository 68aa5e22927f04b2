import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { RawAnswer } from '#api/pipeline/raw-answer.ts';
import { pageOf, Time } from '#api/pipeline/schemas.ts';
import { OutputsView } from '#api/runs/views.ts';
import { Instance } from '#domain/instances/entity.ts';
import { countResources, importState, lockInstance, readState } from '#domain/instances/state.ts';
import { findInstance, findInstanceToFill } from '#domain/instances/targets.ts';
import { unlockInstance } from '#domain/instances/unlock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { readableTeamsSql } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { afterId, pageQuery, toPage, Where } from '#domain/shared/paging.ts';
import { findOwner } from '#domain/teams/store.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';

const Params = z.strictObject({ id: Id });
const reviewed = { resource: 'instances', unscoped: true, parameter: 'id' } as const;
const readAccess: Access = {
  anyOf: ['workload:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { ...reviewed, verb: 'get' },
};
/** State holds secrets in the clear: reading it takes more than reading the instance. */
const stateAccess: Access = {
  ...readAccess,
  anyOf: ['environment:write'],
  teamAction: ['team.metadata.write', 'team.secret.read'],
};

const InstanceView = z
  .object({
    id: z.string(),
    name: z.string(),
    team_id: z.string().nullable(),
    environment_id: z.string().nullable(),
    template_id: z.string(),
    tool: z.string().nullable(),
    state_serial: z.number(),
    resource_count: z.number(),
    deployed_run_id: z.string().nullable(),
    locked_by_run_id: z.string().nullable(),
    created_at: Time,
    revision: z.number(),
  })
  .meta({ id: 'Instance' });
type InstanceView = z.input<typeof InstanceView>;

const StateVersionView = z.object({
  serial: z.number(),
  run_id: z.string().nullable(),
  digest: z.string(),
  size: z.number(),
  resource_count: z.number(),
  created_by: z.string().nullable(),
  created_at: Time,
});

type StateVersionRow = z.input<typeof StateVersionView>;
const stateVersionColumns = 'serial, run_id, digest, size, resource_count, created_by, created_at from state_versions';

const columns = `i.id, i.name, i.team_id, i.environment_id, i.template_id, i.tool, i.state_serial, i.resource_count,
  i.deployed_run_id, s.run_id as locked_by_run_id, i.created_at, i.revision
  from instances i left join instance_slots s on s.instance_id = i.id`;

export const list = read({
  id: 'instances.list',
  route: 'GET /api/v1/instances',
  summary: 'List instances, newest first',
  query: z.strictObject({
    ...pageQuery,
    team_id: Id.optional(),
    environment_id: Id.optional(),
    template_id: Id.optional(),
  }),
  responses: { 200: pageOf('instances', InstanceView) },
  access: { ...readAccess, review: { resource: 'instances', verb: 'list', unscoped: true } },
  target: ({ em, query }) => findOwner(em, query.team_id),
  targetName: 'team',
  handle: async ({ em, query, principal }) => {
    const readable = readableTeamsSql(principal, 'i.team_id', 'visible');
    const where = new Where()
      .and(readable.sql, ...readable.params)
      .andIf(query.team_id, 'i.team_id = ?')
      .andIf(query.environment_id, 'i.environment_id = ?')
      .andIf(query.template_id, 'i.template_id = ?')
      .andIf(afterId(query), 'i.id < ?');
    const rows = await em.execute<(InstanceView & { id: string })[]>(
      `select ${columns} where ${where.sql} order by i.id desc limit ?`,
      [...where.params, query.limit + 1],
    );
    const page = toPage(rows, query);
    return { instances: page.items, next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'instances.get',
  route: 'GET /api/v1/instances/:id',
  summary: 'Read an instance',
  params: Params,
  responses: { 200: InstanceView },
  access: readAccess,
  target: ({ em, params }) => findInstance(em, params.id),
  targetName: 'instance',
  handle: async ({ em, params }) => {
    const rows = await em.execute<InstanceView[]>(`select ${columns} where i.id = ?`, [params.id]);
    if (!rows[0]) throw new NotFound('instance');
    return rows[0];
  },
});

export const getOutputs = read({
  id: 'instances.get_outputs',
  route: 'GET /api/v1/instances/:id/outputs',
  summary: "Read an instance's outputs; secret ones are masked",
  params: Params,
  responses: { 200: z.object({ outputs: OutputsView }) },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: ({ em, params }) => findInstance(em, params.id),
  targetName: 'instance',
  handle: async ({ em, params }) => ({ outputs: (await em.findOneOrFail(Instance, { id: params.id })).outputs }),
});

export const listStateVersions = read({
  id: 'instances.list_state_versions',
  route: 'GET /api/v1/instances/:id/state-versions',
  summary: "List an instance's state versions, newest first",
  params: Params,
  query: z.strictObject({ limit: pageQuery.limit, before: z.coerce.number().int().min(1).optional() }),
  responses: { 200: z.object({ state_versions: z.array(StateVersionView), next_before: z.number().nullable() }) },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: ({ em, params }) => findInstance(em, params.id),
  targetName: 'instance',
  handle: async ({ em, params, query }) => {
    const where = new Where().and('instance_id = ?', params.id).andIf(query.before, 'serial < ?');
    const rows = await em.execute<StateVersionRow[]>(
      `select ${stateVersionColumns} where ${where.sql} order by serial desc limit ?`,
      [...where.params, query.limit + 1],
    );
    const page = rows.slice(0, query.limit);
    return { state_versions: page, next_before: rows.length > query.limit ? (page.at(-1)?.serial ?? null) : null };
  },
});

const StateParams = z.strictObject({ id: Id, serial: z.coerce.number().int().min(1) });

export const getStateVersion = read({
  id: 'instances.get_state_version',
  route: 'GET /api/v1/instances/:id/state-versions/:serial',
  summary: 'Read what is known of a state version, without its content',
  params: StateParams,
  responses: { 200: StateVersionView },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: ({ em, params }) => findInstance(em, params.id),
  targetName: 'instance',
  handle: async ({ em, params }) => {
    const rows = await em.execute<StateVersionRow[]>(
      `select ${stateVersionColumns} where instance_id = ? and serial = ?`,
      [params.id, params.serial],
    );
    if (!rows[0]) throw new NotFound(`state version ${params.serial}`);
    return rows[0];
  },
});

export const downloadState = read({
  id: 'instances.download_state',
  route: 'GET /api/v1/instances/:id/state-versions/:serial/download',
  summary: 'Download a state as the tool wrote it, secrets included',
  params: StateParams,
  responses: { 200: z.string().describe('The state, as the tool wrote it.') },
  access: { ...stateAccess, review: { ...reviewed, verb: 'download_state' } },
  target: ({ em, params }) => findInstance(em, params.id),
  targetName: 'instance',
  audit: 'instance.state_downloaded',
  handle: async ({ em, params, services }) => {
    const content = await readState(em, services.keyRing, params.id, params.serial);
    if (!content) throw new NotFound(`state version ${params.serial}`);
    return RawAnswer.of('application/json', content, `state-${params.id}-${params.serial}.json`);
  },
});

/** As OpenTofu writes it; what the service does not read is kept as it is. */
const TofuState = z.looseObject({
  version: z.literal(4, { error: 'expected an OpenTofu or Terraform state of format version 4' }),
  serial: z.int().min(0),
  lineage: z.string().min(1),
  resources: z.array(z.looseObject({ instances: z.array(z.unknown()).default([]) })).default([]),
});

export const importInstanceState = command({
  id: 'instances.import_state',
  route: 'POST /api/v1/instances/:id/state',
  summary: 'Adopt existing infrastructure: import a state into an instance that has none',
  params: Params,
  body: TofuState,
  responses: { 201: StateVersionView },
  at: getStateVersion,
  access: { ...stateAccess, review: { ...reviewed, verb: 'import_state' } },
  target: ({ em, params, lock }) => findInstanceToFill(em, params.id, lock),
  targetName: 'instance',
  idempotency: 'none',
  audit: 'instance.state_imported',
  handle: async ({ tx, params, body, target, principal, services }) => {
    refuseArchived(target);
    const instance = await lockInstance(tx.em, params.id);
    const content = Buffer.from(JSON.stringify(body));
    const resourceCount = countResources(content);
    const serial = await importState(tx, services.keyRing, instance, {
      content,
      resourceCount,
      createdBy: principal.id,
    });
    return { id: params.id, after: { serial } };
  },
  atParams: ({ id, after }) => ({ id, serial: after.serial }),
});

export const unlock = command({
  id: 'instances.unlock',
  route: 'POST /api/v1/instances/:id/unlock',
  summary: 'Free an instance that is locked although nothing works on it',
  params: Params,
  responses: { 200: InstanceView },
  at: get,
  access: {
    ...readAccess,
    anyOf: ['run:cancel'],
    teamAction: 'team.metadata.write',
    review: { ...reviewed, verb: 'unlock' },
  },
  target: ({ em, params, lock }) => findInstance(em, params.id, lock),
  targetName: 'instance',
  idempotency: 'none',
  audit: 'instance.unlocked',
  handle: async ({ tx, params, target }) => {
    await unlockInstance(tx, params.id, target);
    return { id: params.id };
  },
});
