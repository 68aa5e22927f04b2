import { z } from 'zod';
import { RunAssembly } from '#api/assemblies/run-operations.ts';
import { deployedMembers, normalizeRun, RunBody, readDeployedStart, splitOptions } from '#api/runs/bodies.ts';
import type { Work } from '#domain/schedules/model.ts';
import type { NewSchedule, ScheduleChange } from '#domain/schedules/schedule-changes.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ScheduleBody } from '#domain/shared/schedules/schedule-body.ts';
import { ResourceName } from '#domain/tenancy/model.ts';

/** The bodies of requests for schedules (docs/schedules.md). */

/** Members may be null where the answer has null, so that a client can send back what it read. */
const ScheduledTemplateRun = RunBody.extend({
  environment_id: RunBody.shape.environment_id.nullable(),
  version: RunBody.shape.version.nullable(),
  instance: RunBody.shape.instance.nullable(),
  variables_from: deployedMembers.variables_from
    .nullable()
    .describe(
      '`deployed`: at each start, variables that the work does not name are as the instance is deployed then, as with `POST /runs`. Something must be ' +
        'deployed when the work is saved. Without it, each start resets them.',
    ),
  omit: deployedMembers.omit,
})
  .overwrite(normalizeRun)
  .meta({ id: 'ScheduledTemplateRun' });

const ScheduledAssemblyRun = RunAssembly.extend({
  assembly_id: Id,
  only: RunAssembly.shape.only.nullable(),
}).meta({ id: 'ScheduledAssemblyRun' });

const WorkBody = z
  .union([
    z.strictObject({ run: ScheduledTemplateRun.describe('The body of POST /runs.') }).meta({ id: 'ScheduledRun' }),
    z
      .strictObject({
        assembly_run: ScheduledAssemblyRun.describe('The body of POST /assemblies/{id}/runs, and the assembly.'),
      })
      .meta({ id: 'ScheduledAssembly' }),
  ])
  .describe('What is started: a run of a template or a run of an assembly.');

export const CreateSchedule = z
  .strictObject({
    team_id: Id,
    name: ResourceName,
    schedule: ScheduleBody,
    work: WorkBody,
    enabled: z.boolean().default(true).describe('A schedule that is not enabled is paused.'),
  })
  .meta({ id: 'CreateSchedule' });

export const UpdateSchedule = z
  .strictObject({
    name: ResourceName.optional(),
    schedule: ScheduleBody.optional(),
    work: WorkBody.optional().describe('Replaces all of the work, which runs as you from now on.'),
    enabled: z.boolean().optional(),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateSchedule' });

export function toNewSchedule({ name, schedule, work, enabled }: z.output<typeof CreateSchedule>): NewSchedule {
  return { name, spec: schedule, work: toWork(work), isEnabled: enabled };
}

export function toScheduleChange(body: z.output<typeof UpdateSchedule>): ScheduleChange {
  const { name, schedule, work, enabled, expected_revision: expectedRevision } = body;
  return { name, spec: schedule, work: work && toWork(work), isEnabled: enabled, expectedRevision };
}

export function toWork(work: z.output<typeof WorkBody>): Work {
  if ('run' in work) {
    const {
      template_id: templateId,
      environment_id: environmentId = null,
      version = null,
      instance = null,
      variables_from,
      omit: named,
      ...run
    } = splitOptions(work.run, 'work.run.options');
    const { replace = [], ...rest } = run;
    const variablesFrom = variables_from ?? undefined;
    // An answer has null if it names nothing.
    const omit = readDeployedStart({
      variables_from: variablesFrom,
      omit: named,
      field: 'work.run.omit',
    });
    const start = omit === null ? {} : { variablesFrom, omit };
    return { kind: 'run', templateId, environmentId, version, instance, replace, ...start, ...rest };
  }
  const { assembly_id: assemblyId, environment_id: environmentId, only = null, ...run } = work.assembly_run;
  return { kind: 'assembly_run', assemblyId, environmentId, only, ...run };
}
