import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { secretlyMade } from '#domain/assemblies/runs/output-sources.ts';
import type { RunDetails } from '#domain/runs/details-store.ts';
import type { OutputRead } from '#domain/runs/references/model.ts';
import { type ResetValue, resetCauses, type VariableReset } from '#domain/runs/reset-model.ts';
import { Json } from '#domain/shared/values/json.ts';

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

/** The variables of the last deployment that a run resets, as the run shows them. */

const ResetValueView = z
  .object({
    value: Json.optional().describe('Left out for a secret, and for a long value.'),
    sensitive: z.boolean(),
    truncated: z.boolean().describe('The value is too long to be shown here again.'),
  })
  .meta({ id: 'ResetValue' });

export const ResetView = z
  .object({
    variable: z.string(),
    cause: z
      .enum(resetCauses)
      .describe(
        'What takes the place of the deployed value: the `default` of the version, a value of the `environment`, nothing (`not_set`), or nothing because the version has no such variable (`not_declared`).',
      ),
    before: ResetValueView,
    after: ResetValueView.nullable().describe('Null: the variable has no value.'),
  })
  .meta({ id: 'VariableReset' });

export function toReset({ variable, cause, before, after }: VariableReset): z.input<typeof ResetView> {
  return { variable, cause, before: toResetValue(before), after: after && toResetValue(after) };
}

function toResetValue(value: ResetValue): z.input<typeof ResetValueView> {
  if ('value' in value) return { value: value.value, sensitive: false, truncated: false };
  return { sensitive: 'sensitive' in value, truncated: 'truncated' in value };
}

/**
 * The variables of a run as its readers see them. A variable is masked if it is secret, or if it contains an output of something else that
 * has become secret since.
 */
export function showVariables({ variables, secretVariables, edges }: RunDetails): RunDetails['variables'] {
  const secret = new Set([...secretVariables, ...(edges ? secretlyMade(edges) : [])]);
  if (secret.size === 0) return variables;
  const entries = Object.entries(variables).map(([name, value]) => [name, secret.has(name) ? masked : value] as const);
  return Object.fromEntries(entries);
}

const masked = { sensitive: true } as const;
