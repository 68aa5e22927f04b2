import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { ReadView, toRead } from '#api/runs/variable-views.ts';
import { findInstance } from '#domain/instances/targets.ts';
import { type Dependent, findDependents } from '#domain/runs/references/dependents-store.ts';
import { readUpstream, type UpstreamRead, upstreamStates } from '#domain/runs/references/upstream.ts';
import { InstanceParams, readAccess } from './operations.ts';

const UpstreamView = z
  .object({
    ...ReadView.shape,
    upstream: z
      .enum(upstreamStates)
      .describe(
        'What the output is now: as it was read, another value, no output any longer, or not to be read: the owner has taken that back, or the instance is gone. `unknown`: not compared, because what the instance reads is too large together.',
      ),
  })
  .meta({ id: 'UpstreamRead' });

const DependentView = z
  .object({
    id: AnswerId,
    name: z.string(),
    environment_id: AnswerId.nullable(),
    team_id: AnswerId.nullable(),
    deployed_run_id: AnswerId,
    reads: z.array(ReadView),
  })
  .meta({ id: 'Dependent' });

const DependenciesView = z
  .object({
    reads: z.array(UpstreamView).describe('The outputs of other instances that it was deployed with.'),
    dependents: z.array(DependentView).describe('The instances that were deployed with its outputs; at most 100.'),
    other_dependents: z.int().describe('How many more there are, which are not listed or which you may not read.'),
  })
  .meta({ id: 'InstanceDependencies' });

function toUpstream({ upstream, ...read }: UpstreamRead): z.input<typeof UpstreamView> {
  return { ...toRead(read), upstream };
}

function toDependent({ id, name, environmentId, teamId, runId, reads }: Dependent): z.input<typeof DependentView> {
  const owners = { environment_id: environmentId, team_id: teamId };
  return { id, name, ...owners, deployed_run_id: runId, reads: reads.map(toRead) };
}

export const getDependencies = read({
  id: 'instances.get_dependencies',
  route: 'GET /api/v1/instances/:id/dependencies',
  summary: 'Read which outputs an instance was deployed with, and which instances were deployed with its own',
  params: InstanceParams,
  responses: { 200: DependenciesView },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params, principal, services }) => {
    const reads = await readUpstream(em, services.keyRing, params.id);
    const { shown, others } = await findDependents(em, params.id, principal);
    return { reads: reads.map(toUpstream), dependents: shown.map(toDependent), other_dependents: others };
  },
});
