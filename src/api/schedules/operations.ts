import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { toDenial } from '#api/pipeline/access/authorization.ts';
import { changeOf } from '#api/pipeline/audit/unchanged.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import { scheduleAuthority, workAuthority } from '#domain/schedules/authority.ts';
import type { Work } from '#domain/schedules/model.ts';
import type { ScheduleChange } from '#domain/schedules/schedule-changes.ts';
import { createSchedule, deleteSchedule, triggerSchedule, updateSchedule } from '#domain/schedules/schedule-changes.ts';
import { findSchedule, listSchedules, readSchedule, type ScheduleTarget } from '#domain/schedules/store.ts';
import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { CreateSchedule, toNewSchedule, toScheduleChange, UpdateSchedule } from './bodies.ts';
import { ListedScheduleView, ScheduleView, scheduleActions, viewSchedule, viewWork } from './views.ts';

export const ScheduleParams = z.strictObject({ id: Id });

const review = { resource: 'schedules', target: (em: Em, id: string) => findSchedule(em, id) } as const;

const readAccess: Access = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['environment:read'],
  teamAction: 'team.metadata.read',
  review: { ...review, verb: 'get' },
};
const createAccess: Access = { ...scheduleAuthority, review: { resource: 'schedules', verb: 'create' } };
const writeAccess: Access = { ...scheduleAuthority, review: { ...review, verb: 'update' } };

export const list = readList({
  id: 'schedules.list',
  route: 'GET /api/v1/schedules',
  summary: 'List the schedules that you may read',
  query: z.strictObject({
    ...pageQuery,
    team_id: Id.optional(),
    organization_id: Id.optional().describe("The schedules of the organization's teams that you may read."),
    environment_id: Id.optional().describe('Only schedules that start work in this environment.'),
    template_id: Id.optional().describe('Only schedules that start runs of this template.'),
    assembly_id: Id.optional().describe('Only schedules that start runs of this assembly.'),
    authority_id: Id.optional().describe('Only schedules that run as this user or service account.'),
    credential_id: Id.optional().describe('Only schedules whose work was saved with this API key or in this session.'),
    enabled: Flag.optional().describe('`false`: only those that are paused.'),
  }),
  responses: { 200: pageOf('schedules', ListedScheduleView) },
  access: { ...readAccess, review: { resource: 'schedules', verb: 'list' } },
  owners: { organization: 'organization_id', team: 'team_id', environment: 'environment_id' },
  handle: async ({ em, principal, query }) => {
    const { team_id: teamId, organization_id: organizationId, environment_id: environmentId } = query;
    const {
      template_id: templateId,
      assembly_id: assemblyId,
      authority_id: authorityId,
      credential_id: credentialId,
    } = query;
    const enabled = query.enabled === undefined ? undefined : query.enabled === 'true';
    const filter = {
      teamId,
      organizationId,
      environmentId,
      templateId,
      assemblyId,
      authorityId,
      credentialId,
      enabled,
    };
    const page = await listSchedules(em, principal, filter, query);
    return { schedules: page.items.map(viewSchedule), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'schedules.get',
  route: 'GET /api/v1/schedules/:id',
  summary: 'Read a schedule, with its next times and what became of the last ones',
  params: ScheduleParams,
  responses: { 200: ScheduleView },
  access: readAccess,
  target: ({ em, params }) => findSchedule(em, params.id),
  targetName: 'schedule',
  handle: async ({ em, operations, principal, target }) => {
    const schedule = await readSchedule(em, target.schedule.id);
    if (!schedule) throw new NotFound('schedule');
    return { ...viewSchedule(schedule), actions: scheduleActions.describe({ operations, principal }, target) };
  },
});

export const create = command({
  id: 'schedules.create',
  route: 'POST /api/v1/schedules',
  summary: 'Start a run or an assembly run at set times',
  description:
    'Each time starts the work as you, with the permissions that you have then. A time is left out while what was started before has not ended.',
  body: CreateSchedule,
  responses: { 201: ScheduleView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) => findTeamById(em, body.team_id, lock),
  targetName: 'team',
  idempotency: 'none',
  audit: 'schedule.created',
  handle: async ({ tx, target, body, principal, services }) => {
    const wanted = toNewSchedule(body);
    requireWorkAuthority(principal, wanted.work, target);
    const schedule = await createSchedule(tx, services, target, wanted, principal);
    return { ...changeOf(schedule), after: toAudited(services, schedule) };
  },
});

export const update = command({
  id: 'schedules.update',
  route: 'PATCH /api/v1/schedules/:id',
  summary: 'Change or pause a schedule; what is left out stays',
  description:
    'From then on, the work runs as the person who changed it. Every change but a pause needs the permissions to start the work.',
  params: ScheduleParams,
  body: UpdateSchedule,
  responses: { 200: ScheduleView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findSchedule(em, params.id, lock),
  targetName: 'schedule',
  idempotency: 'none',
  audit: 'schedule.updated',
  handle: async ({ tx, target, body, principal, services }) => {
    const before = toAudited(services, target.schedule);
    const change = toScheduleChange(body);
    if (!isPauseAlone(change)) requireWorkAuthority(principal, change.work ?? target.schedule.work, target);
    await updateSchedule(tx, services, target, change, principal);
    // Saving the work again gives it a new authority, and perhaps new secrets, which the digest does not cover.
    const after = { ...toAudited(services, target.schedule), ...(change.work && { workSaved: true }) };
    return { ...changeOf(target.schedule), before, after };
  },
});

export const remove = command({
  id: 'schedules.delete',
  route: 'DELETE /api/v1/schedules/:id',
  summary: 'Delete a schedule with its history; what it has started goes on',
  params: ScheduleParams,
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...review, verb: 'delete' } },
  target: ({ em, params, lock }) => findSchedule(em, params.id, lock),
  targetName: 'schedule',
  idempotency: 'none',
  ifMatch: true,
  audit: 'schedule.deleted',
  handle: async ({ tx, target, expectedRevision, services }) => {
    const before = toAudited(services, target.schedule);
    const revision = await deleteSchedule(tx, target, expectedRevision);
    return { id: target.schedule.id, before, revision };
  },
});

export const trigger = command({
  id: 'schedules.trigger',
  route: 'POST /api/v1/schedules/:id/trigger',
  summary: 'Start the work of a schedule now, also while it is paused',
  description:
    'Answers 202 once the start is recorded. It runs as the user or account that saved the work, and its outcome is the first of `last_results`.',
  params: ScheduleParams,
  responses: { 202: ScheduleView },
  at: get,
  access: { ...writeAccess, review: { ...review, verb: 'trigger' } },
  target: ({ em, params, lock }) => findSchedule(em, params.id, lock),
  targetName: 'schedule',
  idempotency: 'optional',
  audit: 'schedule.triggered',
  handle: async ({ tx, key, target, principal }) => {
    requireWorkAuthority(principal, target.schedule.work, target);
    const scheduledAt = await triggerSchedule(tx, target, key ?? '', principal);
    return { ...changeOf(target.schedule), after: { scheduledAt: scheduledAt.toISOString() } };
  },
});

/** @throws Forbidden unless the principal may also start such work directly */
function requireWorkAuthority(principal: Principal, work: Pick<Work, 'kind'>, target: Ownership): void {
  const access = workAuthority(work);
  const denial = toDenial({ targetName: 'team' }, { decision: decide(principal, access, target), access });
  if (denial) throw denial;
}

/**
 * The schedule as the audit stores it: everything that decides what is started, and under whose authority. Variables are stored as names
 * and a keyed digest of the values that answers show, so that a change can be noticed and no value can be guessed.
 */
function toAudited(
  { installation }: Services,
  { id, name, spec, isEnabled, work, authorityId, authorityName }: ScheduleTarget['schedule'],
) {
  const text = canonicalJson(['schedule variables', id, work.variables]);
  const digest = createHmac('sha256', installation.bindingKey).update(text).digest('hex');
  const variables = { names: Object.keys(work.variables), digest: `hmac-sha256:${digest}` };
  const [[kind, starts] = []] = Object.entries(viewWork({ ...work, variables: {} }));
  const authority = { id: authorityId, name: authorityName };
  return { name, schedule: spec, enabled: isEnabled, work: { kind, ...starts, variables }, authority };
}

/** Whether a change only pauses the schedule. A caller who may delete a schedule may also pause it. */
function isPauseAlone({ isEnabled, expectedRevision: _, ...others }: ScheduleChange): boolean {
  return isEnabled === false && Object.values(others).every((value) => value === undefined);
}
