import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { OutputRead } from '#domain/runs/references/model.ts';

export const ReadView = z
  .object({
    variable: z.string().describe('A variable, or the data source that `remote_states` of the version names.'),
    path: z.string().describe('The place in its value, as a JSON pointer; empty for the whole.'),
    reference: z.string().describe('As it was written.'),
    instance_id: AnswerId,
    instance: z.string().describe('What the instance was called then: `<project>/<environment>/<name>`.'),
    output: z.string().describe('Its name; `*` for all outputs, which a data source is given.'),
    sensitive: z.boolean(),
    state_serial: z.int().describe('The state of the instance then; 0 without one.'),
    run_id: AnswerId.nullable().describe('The run that had deployed the instance then; null for an imported state.'),
    read_at: Time,
    copied: z.boolean().describe('The run repeats what another run had read.'),
  })
  .meta({ id: 'OutputRead' });

/** The view of an output of another instance that a run used. */
export function toRead(read: OutputRead): z.input<typeof ReadView> {
  const { instanceId, stateSerial, runId, readAt, ...rest } = read;
  return { ...rest, instance_id: instanceId, state_serial: stateSerial, run_id: runId, read_at: readAt };
}
