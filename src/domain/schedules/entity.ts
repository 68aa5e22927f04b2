import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { Assembly } from '#domain/assemblies/entity.ts';
import { Environment } from '#domain/environments/entity.ts';
import { Template } from '#domain/registry/entity.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { Team } from '#domain/teams/entity.ts';
import type { FiringOutcome, FiringReason, ShownWork } from './model.ts';

export const ScheduleSchema = defineEntity({
  name: 'Schedule',
  tableName: 'schedules',
  indexes: [{ name: 'schedules_team_id_index', properties: ['teamId', 'id'] }],
  properties: {
    id: id(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict'),
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    templateId: () => p.manyToOne(Template).mapToPk().fieldName('template_id').deleteRule('restrict').nullable(),
    assemblyId: () => p.manyToOne(Assembly).mapToPk().fieldName('assembly_id').deleteRule('restrict').nullable(),
    name: p.string(),
    spec: p.json<ScheduleSpec>(),
    /** The work as answers show it, with secret variables masked. */
    work: p.json<ShownWork>(),
    /** The work with its secret variables. */
    sealedWork: p.blob().hidden(),
    isEnabled: p.boolean(),
    /** The principal under whose authority it starts work: the one who last saved the work. */
    authorityId: p.uuid(),
    authorityType: p.string().$type<PrincipalKind>(),
    authorityName: p.string(),
    credentialId: p.uuid().nullable(),
    responsibleUserId: p.uuid().nullable(),
    /** The owners of the schedule when its work was last saved. After a transfer to other owners, it starts nothing. */
    savedForOrganizationId: p.uuid(),
    savedForTeamId: p.uuid(),
    /** When a transfer ended that, even if the schedule has returned since; null: no transfer has. */
    voidSince: at().nullable(),
    /**
     * Who last changed the times, or paused or resumed the schedule; null: nobody since it was created. This person may not approve what it
     * starts.
     */
    timesAuthor: p.json<RunAuthor>().nullable(),
    /** The history has a line for each of its times up to this one (`missed-times.ts`). */
    accountedUntil: at().defaultRaw('now()'),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class Schedule extends ScheduleSchema.class {}
ScheduleSchema.setClass(Schedule);

/** A firing: one time of a schedule, or several with the same outcome, and the result of its work. */
export const ScheduleFiringSchema = defineEntity({
  name: 'ScheduleFiring',
  tableName: 'schedule_firings',
  uniques: [{ name: 'schedule_firings_schedule_id_scheduled_at_unique', properties: ['scheduleId', 'scheduledAt'] }],
  properties: {
    id: id(),
    scheduleId: () => p.manyToOne(Schedule).mapToPk().fieldName('schedule_id').deleteRule('cascade'),
    scheduledAt: at(),
    /** The number of times that it represents. */
    times: p.integer().default(1),
    /** The last of these times; null if it represents only one. */
    lastAt: at().nullable(),
    outcome: p.string().$type<FiringOutcome>(),
    /** Why nothing was started; null if something was. */
    reason: p.string().$type<FiringReason>().nullable(),
    message: p.text().nullable(),
    runId: p.uuid().nullable(),
    assemblyRunId: p.uuid().nullable(),
    /** The name of the person who requested the start; null at a time of the schedule. */
    requesterName: p.string().nullable(),
    /** The person who requested the start, and so may not approve what it starts; null at a time of the schedule. */
    author: p.json<RunAuthor>().nullable(),
    createdAt: createdAt(),
  },
});
export class ScheduleFiring extends ScheduleFiringSchema.class {}
ScheduleFiringSchema.setClass(ScheduleFiring);
