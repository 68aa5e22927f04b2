import { z } from 'zod';
import { readOnly } from '#api/pipeline/schemas.ts';
import { InstanceName } from '#domain/instances/instance-name.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { WantedTool } from '#domain/tools/model.ts';

/** The bodies of requests about instances (docs/instances.md). */

export const CreateInstance = z
  .strictObject({
    environment_id: Id.optional().describe(
      'Where it is deployed; without one, the instance belongs to the team of its template.',
    ),
    template_id: Id.describe(
      'What deploys it. While the instance holds nothing, a run of another template may take it over.',
    ),
    name: InstanceName.describe('What runs call it: unique in the environment; without one, under the template.'),
    tool: WantedTool.optional().describe('The tool of its runs, within what its template and its environment ask for.'),
  })
  .meta({ id: 'CreateInstance' });

export const SwitchTool = z
  .strictObject({
    tool: WantedTool.describe('The tool of its next runs, within what its template and its environment ask for.'),
  })
  .meta({ id: 'SwitchTool' });

export const DespiteDependents = z
  .boolean()
  .default(false)
  .describe(
    'Go on although other instances were deployed with outputs of this one. They keep the values that they were given.',
  );

export const DeleteInstance = z.strictObject({ despite_dependents: DespiteDependents }).meta({ id: 'DeleteInstance' });

export const ForgetState = z.strictObject({ despite_dependents: DespiteDependents }).meta({ id: 'ForgetState' });

const Listed = z.array(Id).max(200);

export const SetReaders = z
  .strictObject({
    team_ids: Listed.default([]),
    environment_ids: Listed.default([]),
    ...ExpectedRevision,
    ...readOnly('void', 'revision', 'actions'),
  })
  .meta({ id: 'SetReaders' });

export const SetFollow = z
  .strictObject({
    enabled: z.boolean(),
    ...ExpectedRevision,
    ...readOnly('authority', 'stopped_because', 'failure', 'revision', 'actions'),
  })
  .meta({ id: 'SetFollow' });
